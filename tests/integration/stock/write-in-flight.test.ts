import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import type { PoolClient } from "pg";
import { createLock } from "../../../lib/locks/create-lock";
import { isLockError } from "../../../lib/locks/errors";
import type { LockStrategy } from "../../../lib/locks/types";
import { nowNs } from "../../../lib/services/monotonic";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { LockedStock, type SectionHooks } from "../../../lib/stock/locked-stock";
import { StockStore } from "../../../lib/stock/stock-store";
import type { HeldOrder, OperationTrace, StockTarget } from "../../../lib/stock/types";
import { setEnv } from "../../support/lab-env";
import { type LockClients, openLockClients } from "../../support/lock-clients";
import { openPgWatch, type PgWatch } from "../../support/pg-watch";
import { openTestPostgres } from "../../support/postgres-for-tests";
import { relayService } from "../../support/relayed-servers";
import { makeProduct, productFacts } from "../../support/rows";
import { waitUntil } from "../../support/wait-until";

/** Locks without a fencing token, when PostgreSQL does not answer a write within the client's limit of 2 s. */

setEnv({ STORE_NODE: "in-flight-test" });
const APPLICATION = "flash-sale-lab in-flight-test";
const STOCK = 10;
const TTL_MS = 3_000;

let clients: LockClients;
let watch: PgWatch;
/** Not the session of `watch`: PostgreSQL shows a transaction the same pg_stat_activity until its end. */
let blocker: PoolClient;
let target: StockTarget;
let operations = 0;

before(async () => {
  clients = openLockClients();
  watch = await openPgWatch();
  blocker = await postgresPool().connect();
});
after(async () => {
  blocker.release();
  await Promise.all([clients[Symbol.asyncDispose](), watch[Symbol.asyncDispose]()]);
  await prisma().$disconnect();
  await postgresPool().end();
});
beforeEach(async () => {
  target = { kind: "product", id: await makeProduct(STOCK) };
});

function newTrace(): OperationTrace {
  operations += 1;
  return { opId: `in-flight-${process.pid}-${operations}`, invokedNs: nowNs() };
}

function buy(stock: LockedStock, buyerId: string, waitTimeoutMs: number) {
  const trace = newTrace();
  const limits = { quantity: 1, runId: null, holdMs: 0, ttlMs: TTL_MS, waitTimeoutMs };
  return { trace, outcome: stock.reduceStock({ target, buyerId, ...limits, trace }) };
}

const newStock = (lock: LockStrategy, hooks: SectionHooks = {}) =>
  new LockedStock(lock, new StockStore(postgresPool(), "in-flight-test"), hooks);

for (const id of ["local-mutex", "redis-lock"])
  describe(`a write under ${id} that exceeds its limit`, () => {
    let lock: LockStrategy;

    beforeEach(() => {
      lock = createLock(id, clients);
    });
    afterEach(() => lock[Symbol.asyncDispose]());

    /** Locks the row in another session, runs the first operation, and lets a buyer follow who waits for the lock. */
    async function overlapWithBuyer(startFirst: (stock: LockedStock) => Promise<unknown>) {
      await blocker.query("BEGIN");
      await blocker.query("SELECT 1 FROM products WHERE id = $1 FOR UPDATE", [target.id]);
      const first = startFirst(newStock(lock));
      void Promise.allSettled([first]);
      await watch.untilWaiting(APPLICATION, 1);
      let writesInFlight = -1;
      const countWrites = async () => {
        writesInFlight = await watch.waiters(APPLICATION);
      };
      const second = buy(newStock(lock, { work: countWrites }), "second", 30_000);
      await waitUntil(() => second.trace.writeNs !== undefined, { what: "the write of the second buyer" });
      await blocker.query("COMMIT");
      const [answer] = await Promise.allSettled([first]);
      return { answer, second: await second.outcome, writesInFlight };
    }

    it("is cancelled before the next buyer is granted, so that no update is lost", async () => {
      const { answer, second, writesInFlight } = await overlapWithBuyer((stock) => buy(stock, "first", 1_000).outcome);
      assert.equal(second.status, "sold");
      assert.deepEqual(await productFacts(target.id), { stock: STOCK - 1, orders: 1 });
      assert.equal(writesInFlight, 0, "expected the first write to have ended when the second buyer is granted");
      assert.ok(answer.status === "rejected" && isLockError(answer.reason), `found ${JSON.stringify(answer)}`);
      assert.deepEqual([answer.reason.code, answer.reason.isDefinite], ["backend_unavailable", true]);
    });

    it("is cancelled before the next buyer is granted if it gives units back", async () => {
      const sold = await buy(newStock(lock), "earlier", 1_000).outcome;
      assert.ok(sold.status === "sold");
      const orders: HeldOrder[] = [{ orderId: sold.orderId, buyerId: "earlier", quantity: 1 }];
      const request = { target, orders, as: "cancelled", reason: null, dueBefore: null } as const;
      const { answer, second, writesInFlight } = await overlapWithBuyer((stock) =>
        stock.giveBack({ ...request, ttlMs: TTL_MS, waitTimeoutMs: 1_000, trace: newTrace() }),
      );
      assert.equal(second.status, "sold");
      assert.equal((await productFacts(target.id)).stock, STOCK - 2);
      assert.equal(writesInFlight, 0, "expected the give-back to have ended when the buyer is granted");
      assert.ok(answer.status === "rejected" && isLockError(answer.reason) && answer.reason.isDefinite);
    });

    it("keeps the hold until the lease has run out if PostgreSQL cannot be reached", async () => {
      await using servers = await relayService("postgres");
      await using relayed = openTestPostgres({ databaseUrl: servers.servers.postgres });
      const freeze = () => servers.relays[0]?.freeze();
      const store = new StockStore(relayed.pool, "in-flight-test");
      const first = buy(new LockedStock(lock, store, { beforeWrite: freeze }), "first", 1_000);
      void Promise.allSettled([first.outcome]);
      await waitUntil(() => first.trace.writeNs !== undefined, { what: "the write of the first buyer" });
      const second = buy(newStock(lock), "second", 30_000);
      void Promise.allSettled([second.outcome]);
      const inFlight = { code: "outcome_unknown", isDefinite: false, mayBeInFlight: true };
      await assert.rejects(first.outcome, inFlight);
      assert.equal((await second.outcome).status, "sold");
      const keptMs = Number((second.trace.grantedNs ?? 0n) - (first.trace.releasedNs ?? 0n)) / 1e6;
      // The last renewal of a lease is at most a third of its length old.
      const leastMs = id === "redis-lock" ? (TTL_MS * 2) / 3 - 100 : TTL_MS;
      assert.ok(keptMs >= leastMs, `expected the hold to stay for ${leastMs} ms, found ${keptMs} ms`);
    });
  });

describe("a statement whose client is lost", () => {
  it("is ended by PostgreSQL after a limit above every limit of a client", async () => {
    const { rows } = await postgresPool().query<{ statement_timeout: string }>("SHOW statement_timeout");
    assert.deepEqual(rows, [{ statement_timeout: "65s" }]);
  });
});
