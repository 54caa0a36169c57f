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

/** Behavior of the SQL strategies, mostly on small connection pools. sql-buckets.test.ts covers the buckets. */

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

/** Opens a strategy on a separate pool. */
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
    it(`${nameOf(one)} needs only one connection per purchase`, async () => {
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
      assert.ok(trace.committedNs > trace.releasedNs, "expected the commit after the end of the critical section");
    });

    it(`${nameOf(one)} sells nothing when the connection of its transaction is lost`, async () => {
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
  it("keeps working after PostgreSQL drops a connection during a statement", async () => {
    const client = await postgresPool().connect();
    const pid = (await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0]?.pid;
    const sleeping = client.query("SELECT pg_sleep(30)");
    const dropped = assert.rejects(sleeping, /terminating connection/);
    await postgresPool().query("SELECT pg_terminate_backend($1)", [pid]);
    await dropped;
    // The error event follows when the socket closes. Without a listener it would end this process.
    await waitUntil(() => (client as unknown as { _queryable: boolean })._queryable === false, { what: "the event" });
    client.release(true);
    assert.equal((await postgresPool().query("SELECT 1")).rowCount, 1);
  });
});

/** Another write comes between each read and its write, also on a slow disk. The timeout allows a few attempts. */
const CONTENDED = { holdMs: 150, waitTimeoutMs: 1_500 };

describe("sql-serializable", () => {
  it("reports the number of its attempts", async () => {
    await using opened = openStrategy("sql-serializable", { poolSize: 8 });
    const target = { kind: "product" as const, id: await makeProduct(6) };
    const answers = await Promise.all(
      // Long enough that all of them read before the first one writes.
      buyers(6).map((buyerId) => buy(opened.strategy, { target, buyerId, holdMs: 200 })),
    );
    assert.ok(answers.every(({ outcome }) => outcome.status === "sold"));
    const attempts = answers.map(({ trace }) => trace.attempts ?? 0);
    assert.ok(Math.max(...attempts) > 1, `attempts ${attempts}`);
    assert.deepEqual(await productFacts(target.id), { stock: 0, orders: 6 });
  });

  it("is contended when its wait timeout ends before a transaction succeeds", async () => {
    await using opened = openStrategy("sql-serializable");
    const target = { kind: "product" as const, id: await makeProduct(1_000) };
    let isOver = false;
    const writeRepeatedly = async () => {
      while (!isOver)
        await postgresPool().query("UPDATE products SET version = version + 1 WHERE id = $1", [target.id]);
    };
    const writer = writeRepeatedly();
    const { outcome, trace } = await buy(opened.strategy, { target, buyerId: "slow", ...CONTENDED });
    isOver = true;
    await writer;
    assert.equal(outcome.status, "contended");
    assert.ok((trace.attempts ?? 0) > 1, `expected several attempts, found ${trace.attempts}`);
    assert.deepEqual(await productFacts(target.id), { stock: 1_000, orders: 0 });
  });

  it("tries once with a wait timeout of 0, also when the row stays locked", async () => {
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

  it("stops waiting when the caller aborts, and leaves no waiting statement in PostgreSQL", async () => {
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
