import assert from "node:assert/strict";
import { isLockError } from "../../../../lib/locks/errors";
import type { Grant, LockOutcome, LockRequest, LockStrategy, StrategyTraits } from "../../../../lib/locks/types";
import { nowNs } from "../../../../lib/services/monotonic";
import { LockedStock } from "../../../../lib/stock/locked-stock";
import { StockStore } from "../../../../lib/stock/stock-store";
import type { StockTarget } from "../../../../lib/stock/types";
import { makeProduct, productFacts } from "../../../support/rows";
import { type LockCase, withoutServer } from "../case";
import type { LockUnderTest } from "../strategy-under-test";
import { race } from "./exclusion";

const withoutToken = ({ fencingSource }: StrategyTraits) => (fencingSource === null ? "it has no fencing token" : null);

export const risingTokens: LockCase = {
  name: () => "gives fencing tokens that rise with every hold, over all processes",
  notApplicable: withoutToken,
  async run(tested) {
    const tokens = (await race(tested)).map(({ fencingToken }) => fencingToken);
    for (const [index, token] of tokens.entries()) {
      assert.ok(token !== null, `hold ${index} has no token`);
      const before = tokens[index - 1] ?? -1n;
      assert.ok(token > before, `expected the token of hold ${index} to be above ${before}, found ${token}`);
    }
  },
};

/**
 * A lock whose hold ends before its section, like a holder that was paused past its lease and has not detected the
 * loss.
 */
function withExpiredHold(lock: LockStrategy): LockStrategy {
  return {
    id: lock.id,
    traits: lock.traits,
    async runGuarded<T>(request: LockRequest, section: (grant: Grant) => Promise<T>): Promise<LockOutcome<T>> {
      const hold = await lock.runGuarded(request, async (grant) => ({
        ...grant,
        signal: new AbortController().signal,
      }));
      if (hold.status === "contended") return hold;
      return { ...hold, value: await section(hold.value) };
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/**
 * A second purchase completes while the first one is in progress. @returns the outcome of the first one, and the stock
 */
async function buyDuringAnotherPurchase(tested: LockUnderTest) {
  const { pool } = tested.clients.postgres();
  const target: StockTarget = { kind: "product", id: await makeProduct(10) };
  const store = new StockStore(pool, "conformance");
  const buy = (strategy: LockedStock, buyerId: string) => {
    const limits = { holdMs: 0, ttlMs: 5_000, waitTimeoutMs: 10_000 };
    const trace = { opId: `f-${process.pid}-${target.id}-${buyerId}`, invokedNs: nowNs() };
    return strategy.reduceStock({ target, quantity: 1, buyerId, runId: null, ...limits, trace });
  };
  const second = new LockedStock(tested.lock, store);
  const work = async () => assert.equal((await buy(second, "second")).status, "sold");
  const stale = new LockedStock(withExpiredHold(tested.lock), store, { work });
  const [first] = await Promise.allSettled([buy(stale, "stale")]);
  return { first, ...(await productFacts(target.id)) };
}

export const staleWrite: LockCase = {
  name: ({ fencingSource }) =>
    fencingSource === null
      ? "accepts a write after the hold has ended: without a fencing token, the resource cannot detect it"
      : "rejects a write after the hold has ended",
  notApplicable: (traits) => {
    if (traits.fencingSource !== null) return null;
    if (traits.family === "sql") return "its section is a transaction that ends with the hold";
    return withoutServer(traits);
  },
  async run(tested) {
    const { first, stock, orders } = await buyDuringAnotherPurchase(tested);
    if (tested.traits.fencingSource === null) {
      assert.equal(first.status, "fulfilled", "expected the stale write to be accepted, but it was rejected");
      assert.deepEqual({ stock, orders }, { stock: 9, orders: 2 });
      return;
    }
    assert.ok(first.status === "rejected" && isLockError(first.reason), "the stale write was accepted");
    assert.equal(first.reason.code, "fence_stale");
    assert.deepEqual({ stock, orders }, { stock: 9, orders: 1 });
  },
};
