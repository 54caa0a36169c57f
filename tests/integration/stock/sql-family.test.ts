import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { LockError } from "../../../lib/locks/errors";
import { closeLockClients, lockDependencies } from "../../../lib/node/lock-dependencies";
import { nowNs } from "../../../lib/services/monotonic";
import { postgresPool } from "../../../lib/services/postgres";
import { createStockStrategy } from "../../../lib/stock/stock-strategies";
import type { OperationTrace, StockOutcome, StockStrategy, StockTarget } from "../../../lib/stock/types";
import { requireEnv, setEnv } from "../../support/lab-env";
import { openTestPostgres, type TestPostgresOptions } from "../../support/postgres-for-tests";
import { makeProduct, productFacts } from "../../support/rows";
import { waitUntil } from "../../support/wait-until";

/** What is particular to the SQL strategies, on small pools above all; buckets have a file of their own. */

requireEnv("DATABASE_URL");
setEnv({ STORE_NODE: "sql-test" });

interface Case {
  readonly id: string;
  readonly options?: Pick<TestPostgresOptions, "rowLock" | "advisory">;
}

const transactional: readonly Case[] = [
  { id: "sql-row-lock" },
  { id: "sql-row-lock", options: { rowLock: "nowait" } },
  { id: "sql-row-lock", options: { rowLock: "skip-locked" } },
  { id: "sql-table-lock" },
  { id: "sql-advisory" },
  { id: "sql-advisory", options: { advisory: "session" } },
];
const nameOf = ({ id, options = {} }: Case) => [id, ...Object.values(options)].join(" ");

after(async () => {
  await closeLockClients();
  await postgresPool().end();
});

const buyers = (length: number) => Array.from({ length }, (_, index) => `buyer-${index}`);

let operations = 0;

interface Purchase {
  readonly target: StockTarget;
  readonly buyerId: string;
  readonly quantity?: number;
  readonly holdMs?: number;
  readonly waitTimeoutMs?: number;
  readonly signal?: AbortSignal;
}

async function buy(
  strategy: StockStrategy,
  purchase: Purchase,
): Promise<{ outcome: StockOutcome; trace: OperationTrace }> {
  operations += 1;
  const trace: OperationTrace = { opId: `sql-${process.pid}-${operations}`, invokedNs: nowNs() };
  const defaults = { quantity: 1, runId: null, holdMs: 2, ttlMs: 5_000, waitTimeoutMs: 10_000 };
  return { outcome: await strategy.reduceStock({ ...defaults, ...purchase, trace }), trace };
}

/** A strategy on a pool of its own. */
function openStrategy(id: string, options: TestPostgresOptions = {}) {
  const postgres = openTestPostgres(options);
  const locks = { ...lockDependencies(), postgres: () => postgres };
  const strategy = createStockStrategy(id, { pool: postgres.pool, node: "sql-test", locks });
  return {
    strategy,
    postgres,
    async [Symbol.asyncDispose]() {
      await strategy[Symbol.asyncDispose]();
      await postgres[Symbol.asyncDispose]();
    },
  };
}

describe("SQL strategies", () => {
  for (const one of [...transactional, { id: "sql-serializable" } as Case, { id: "sql-buckets" } as Case]) {
    it(`${nameOf(one)} needs no second connection where the pool has one`, async () => {
      await using opened = openStrategy(one.id, { ...one.options, poolSize: 1 });
      const target = { kind: "product" as const, id: await makeProduct(5) };
      const answers = await Promise.all(buyers(12).map((buyerId) => buy(opened.strategy, { target, buyerId })));
      assert.equal(answers.filter(({ outcome }) => outcome.status === "sold").length, 5);
      assert.deepEqual(await productFacts(target.id), { stock: 0, orders: 5 });
      const { totalCount, idleCount, waitingCount } = opened.postgres.pool;
      assert.deepEqual([totalCount - idleCount, waitingCount], [0, 0]);
    });
  }

  for (const one of transactional.filter(({ options }) => options?.advisory !== "session")) {
    it(`${nameOf(one)} counts a sale from its commit`, async () => {
      await using opened = openStrategy(one.id, one.options);
      const target = { kind: "product" as const, id: await makeProduct(1) };
      const { trace } = await buy(opened.strategy, { target, buyerId: "a" });
      assert.ok(trace.committedNs !== undefined && trace.releasedNs !== undefined);
      assert.ok(trace.committedNs > trace.releasedNs, "the section ended before the commit was through");
    });

    it(`${nameOf(one)} sells nothing when the connection of its transaction is gone`, async () => {
      await using opened = openStrategy(one.id, one.options);
      const target = { kind: "product" as const, id: await makeProduct(1) };
      const buying = buy(opened.strategy, { target, buyerId: "a", holdMs: 300 });
      buying.catch(() => {});
      const app = opened.postgres.applicationName;
      const holder = `SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND state = 'idle in transaction'
        AND query LIKE 'SELECT stock%'`;
      await waitUntil(async () => ((await postgresPool().query(holder, [app])).rowCount ?? 0) === 1, {
        what: "the hold",
      });
      await postgresPool().query(`SELECT pg_terminate_backend(pid) FROM (${holder}) holder`, [app]);
      await assert.rejects(buying, (error) => error instanceof LockError && error.isDefinite);
      assert.deepEqual(await productFacts(target.id), { stock: 1, orders: 0 });
    });
  }
});

describe("a store node's pool", () => {
  it("outlives a connection that PostgreSQL drops under a statement", async () => {
    const client = await postgresPool().connect();
    const pid = (await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0]?.pid;
    const sleeping = client.query("SELECT pg_sleep(30)");
    const dropped = assert.rejects(sleeping, /terminating connection/);
    await postgresPool().query("SELECT pg_terminate_backend($1)", [pid]);
    await dropped;
    // Its error event, which would have ended this process, comes when the socket closes.
    await waitUntil(() => (client as unknown as { _queryable: boolean })._queryable === false, { what: "the event" });
    client.release(true);
    assert.equal((await postgresPool().query("SELECT 1")).rowCount, 1);
  });
});

/** Somebody else's write, on a slow disk too, comes between every read and its write; and there is time for a few tries. */
const SPOILED = { holdMs: 150, waitTimeoutMs: 1_500 };

describe("sql-serializable", () => {
  it("reports how often it had to start again", async () => {
    await using opened = openStrategy("sql-serializable", { poolSize: 8 });
    const target = { kind: "product" as const, id: await makeProduct(6) };
    const answers = await Promise.all(
      // Long enough for all of them to read before the first one writes.
      buyers(6).map((buyerId) => buy(opened.strategy, { target, buyerId, holdMs: 200 })),
    );
    assert.ok(answers.every(({ outcome }) => outcome.status === "sold"));
    const attempts = answers.map(({ trace }) => trace.attempts ?? 0);
    assert.ok(Math.max(...attempts) > 1, `attempts ${attempts}`);
    assert.deepEqual(await productFacts(target.id), { stock: 0, orders: 6 });
  });

  it("answers `contended` when its time is over before it comes first", async () => {
    await using opened = openStrategy("sql-serializable");
    const target = { kind: "product" as const, id: await makeProduct(1_000) };
    let isOver = false;
    const spoil = async () => {
      while (!isOver)
        await postgresPool().query("UPDATE products SET version = version + 1 WHERE id = $1", [target.id]);
    };
    const spoiler = spoil();
    const { outcome, trace } = await buy(opened.strategy, { target, buyerId: "slow", ...SPOILED });
    isOver = true;
    await spoiler;
    assert.equal(outcome.status, "contended");
    assert.ok((trace.attempts ?? 0) > 1, "it tried once only");
    assert.deepEqual(await productFacts(target.id), { stock: 1_000, orders: 0 });
  });

  it("tries once where it may not wait, also behind a row that stays locked", async () => {
    await using opened = openStrategy("sql-serializable");
    const target = { kind: "product" as const, id: await makeProduct(1) };
    const client = await postgresPool().connect();
    await client.query("BEGIN");
    await client.query("SELECT FROM products WHERE id = $1 FOR UPDATE", [target.id]);
    const { outcome } = await buy(opened.strategy, { target, buyerId: "a", waitTimeoutMs: 0 });
    await client.query("ROLLBACK");
    client.release();
    assert.ok(outcome.status === "contended" && outcome.attempts === 1);
  });

  it("stops waiting when the caller does, and leaves no waiter behind", async () => {
    await using opened = openStrategy("sql-serializable");
    const target = { kind: "product" as const, id: await makeProduct(1) };
    const client = await postgresPool().connect();
    await client.query("BEGIN");
    await client.query("SELECT FROM products WHERE id = $1 FOR UPDATE", [target.id]);
    const caller = new AbortController();
    const buying = buy(opened.strategy, { target, buyerId: "a", signal: caller.signal });
    buying.catch(() => {});
    const waiting = async () => {
      const text = `SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`;
      return (await postgresPool().query(text, [opened.postgres.applicationName])).rowCount ?? 0;
    };
    await waitUntil(async () => (await waiting()) === 1, { what: "the write to wait for the row" });
    caller.abort();
    await assert.rejects(buying, (error) => error instanceof LockError && error.code === "aborted");
    await waitUntil(async () => (await waiting()) === 0, { what: "the waiter to leave" });
    await client.query("ROLLBACK");
    client.release();
    assert.deepEqual(await productFacts(target.id), { stock: 1, orders: 0 });
  });
});
