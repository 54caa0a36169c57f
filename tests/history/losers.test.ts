import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import type { HistoryOpLine } from "../../lib/history/types";
import { systemClock } from "../../lib/locks/clock";
import { systemRandom } from "../../lib/locks/random";
import { CounterQueries } from "../../lib/stock/counter-queries";
import { MemcachedCas } from "../../lib/stock/memcached-cas";
import { createRedisDecrement } from "../../lib/stock/redis-decrement";
import { createRedisWatch } from "../../lib/stock/redis-watch";
import { SqlBuckets } from "../../lib/stock/sql-buckets";
import { SqlDecrement } from "../../lib/stock/sql-decrement";
import { SqlGuarded } from "../../lib/stock/sql-guarded";
import { SqlOptimistic } from "../../lib/stock/sql-optimistic";
import { SqlSerializable } from "../../lib/stock/sql-serializable";
import { StockStore } from "../../lib/stock/stock-store";
import { FakeMemcached } from "../../lib/stock/testing/fake-memcached";
import { FakePostgres, sqlError } from "../../lib/stock/testing/fake-postgres";
import { FakeRedis } from "../../lib/stock/testing/fake-redis";
import { PRODUCT, purchaseOf } from "../../lib/stock/testing/requests";
import type { StockRequest, StockStrategy } from "../../lib/stock/types";

const RUN = { runId: "run-1" };
const ONCE = { ...RUN, waitTimeoutMs: 0 };
const PATIENT = { ...RUN, waitTimeoutMs: 5_000 };

function servers(counter = 17) {
  const postgres = new FakePostgres();
  const redis = new FakeRedis(counter);
  const store = new StockStore(postgres.pool, "node-1");
  const queries = new CounterQueries(postgres.pool, "test");
  return { postgres, redis, store, queries };
}

type Loser = () => Promise<{ readonly strategy: StockStrategy; readonly request: StockRequest }>;

/** Each sets up a purchase that fails in the way that the planted history shows. */
const LOSERS: Readonly<Record<string, Loser>> = {
  "lost-update-beside-a-loser-of-sql-serializable": async () => {
    const { postgres, store } = servers();
    postgres.reply("read", { stock: 17 }).reply("writeAbsolute", sqlError("40001"));
    const dependencies = { clock: systemClock, random: systemRandom };
    return { strategy: new SqlSerializable({ store, pool: postgres.pool, dependencies }), request: purchaseOf(ONCE) };
  },
  "lost-update-beside-a-loser-of-sql-optimistic": async () => {
    const { postgres, store } = servers();
    postgres.reply("read", { stock: 17, version: 1 }, { stock: 16, version: 2 }).reply("writeVersioned", null);
    return { strategy: new SqlOptimistic(store, () => 0), request: purchaseOf({ ...PATIENT, quantity: 17 }) };
  },
  "lost-update-beside-a-loser-of-sql-guarded": async () => {
    const { postgres, store } = servers();
    postgres.reply("takeGuarded", null);
    return { strategy: new SqlGuarded(store), request: purchaseOf({ ...ONCE, quantity: 17 }) };
  },
  "lost-update-beside-a-loser-of-sql-decrement": async () => {
    const { postgres, store } = servers();
    postgres.reply("read", { stock: 17 }).reply("takeUnguarded", sqlError("23514", "buyer_allowances_units_check"));
    return { strategy: new SqlDecrement(store), request: purchaseOf(ONCE) };
  },
  "lost-update-beside-a-loser-of-redis-decrement": async () => {
    return { strategy: createRedisDecrement(servers(16)), request: purchaseOf({ ...ONCE, quantity: 17 }) };
  },
  "lost-update-beside-a-loser-of-redis-watch": async () => {
    const { redis, ...parts } = servers();
    redis.onSessionCommand = (command) => {
      if (command === "MULTI") redis.version += 1;
    };
    const strategy = createRedisWatch({ ...parts, redis, openSession: () => redis.openSession(), random: () => 1 });
    return { strategy, request: purchaseOf(ONCE) };
  },
  "lost-update-beside-a-loser-of-memcached-cas": async () => {
    const { store, queries } = servers();
    const client = new FakeMemcached();
    const strategy = new MemcachedCas({
      store,
      queries,
      client,
      dependencies: { clock: systemClock, random: { ...systemRandom, fraction: () => 0 } },
    });
    await strategy.prepare(PRODUCT, 17);
    const key = "stock:product:7";
    client.before = (command, changed) => {
      if (command === "cas" && changed === key) client.store({ key, value: "16", expirySeconds: 900 });
    };
    return { strategy, request: purchaseOf({ ...PATIENT, quantity: 17 }) };
  },
  "ticket-refused-too-early-beside-a-loser-of-sql-buckets": async () => {
    const { postgres, store } = servers();
    for (const name of ["takeFromFreeBucket", "takeFromBusyBucket", "takeFromAll"]) postgres.reply(name, null);
    const strategy = new SqlBuckets({ store, pool: postgres.pool, random: () => 0 });
    return { strategy, request: purchaseOf({ ...ONCE, quantity: 2 }) };
  },
};

/** The fields from which checkers conclude whether a purchase may have changed the stock. */
function writeOf({ readValue, writeNs, writtenValue, writeAccepted }: Partial<HistoryOpLine>) {
  return { readValue, hasWritten: writeNs !== undefined, writtenValue, writeAccepted };
}

function plantedLoser(name: string): HistoryOpLine {
  const text = readFileSync(new URL(`./cases/${name}.ndjson`, import.meta.url), "utf8");
  const lines = text.trim().split("\n");
  return lines.map((line) => JSON.parse(line) as HistoryOpLine).find(({ opId }) => opId === "op-2") as HistoryOpLine;
}

describe("the loser in a planted history", () => {
  for (const [name, makeLoser] of Object.entries(LOSERS))
    it(`is recorded by the strategy as in ${name}`, async () => {
      const { strategy, request } = await makeLoser();
      const { status } = await strategy.reduceStock(request);
      const planted = plantedLoser(name);
      const { readValue, writeNs, writtenValue, writeAccepted } = request.trace;
      const recorded = { readValue, writeNs: writeNs?.toString(), writtenValue, writeAccepted };
      assert.deepEqual(writeOf(recorded as Partial<HistoryOpLine>), writeOf(planted));
      assert.equal(status === "limit_reached" ? "rejected" : status, planted.outcome);
    });
});
