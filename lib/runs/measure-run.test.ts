import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { findViolations } from "../history/check-history";
import { readOperations } from "../history/operation";
import type { HistoryOpLine, HistoryOrder } from "../history/types";
import { runRequestSchema } from "./document";
import { historyOf, measure, type RunFacts } from "./measure-run";
import { newDocument } from "./new-document";

interface Outcome {
  readonly stock: number;
  readonly final: number;
  /** Buyers of one unit each, in the order of their rows. */
  readonly buyers: readonly string[];
  readonly kind?: "product" | "coupon";
  readonly counter?: number | null;
}

function documentOf({ stock, kind = "product" }: Outcome) {
  const request = runRequestSchema.parse({ strategy: "sql-guarded", stock });
  const target = { kind, id: 7 };
  return newDocument({ id: "r", request, target, nodes: 3, expected: "safe", versions: {} });
}

/** A run of which only the database is known. */
function factsOf({ final, buyers, counter }: Outcome): RunFacts {
  const orders = buyers.map(
    (buyerId, index): HistoryOrder => ({ orderId: `${index}`, opId: `op-${index}`, buyerId, quantity: 1 }),
  );
  const drift = counter === undefined ? null : { counter, stock: final, pending: 0, drift: 0 };
  return { stats: [], ops: [], database: { final, orders }, drift, isComplete: false };
}

const judged = (outcome: Outcome) => findViolations(historyOf(documentOf(outcome), factsOf(outcome))).violations;
const people = (count: number) => Array.from({ length: count }, (_, index) => `buyer-${index}`);

describe("a run's violations", () => {
  it("sees units that were promised twice", () => {
    const { oversold, lostUpdates } = judged({ stock: 100, final: 0, buyers: people(131) });
    assert.deepEqual({ oversold, lostUpdates }, { oversold: 31, lostUpdates: 31 });
  });

  it("sees units that left a counter beside the row and never became an order", () => {
    const withCounter = (counter: number | null) => judged({ stock: 100, final: 40, buyers: people(60), counter });
    assert.equal(withCounter(37).undersold, 3);
    assert.equal(withCounter(-1).negativeStock, 1);
    for (const counter of [40, 43, null]) assert.ok(Object.values(withCounter(counter)).every((count) => count === 0));
  });

  it("allows a buyer one coupon, and any number of a product", () => {
    const greedy = { stock: 9, final: 6, buyers: ["a", "b", "a"] };
    assert.equal(judged({ ...greedy, kind: "coupon" }).duplicateClaims, 1);
    assert.equal(judged(greedy).duplicateClaims, 0);
  });

  it("finds nothing exactly when initial = final + orders and neither is out of range", () => {
    const size = fc.integer({ min: 0, max: 50 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: -5, max: 55 }), size, (stock, final, sold) => {
        const found = Object.values(judged({ stock, final, buyers: people(sold) })).some((count) => count > 0);
        const conserved = stock === final + sold && final >= 0 && sold <= stock;
        assert.equal(found, !conserved);
      }),
    );
  });
});

describe("measure", () => {
  it("counts units, not rows, and takes contention and waits from the operations", () => {
    const outcome = { stock: 5, final: 3, buyers: ["a"] };
    const op = (index: number, fields: Partial<HistoryOpLine>): HistoryOpLine => ({
      type: "op",
      opId: `op-${index}`,
      node: "node-1",
      host: "h",
      buyerId: "a",
      quantity: 2,
      invokedNs: "1000000",
      outcome: "contended",
      ...fields,
    });
    const ops = [
      op(0, { waitNs: "1000000", grantedNs: "3000000", releasedNs: "4000000", answeredNs: "4500000", outcome: "sold" }),
      op(1, { invokedNs: "2000000", waitNs: "2000000", answeredNs: "9000000" }),
    ];
    const orders = [{ orderId: "1", opId: "op-0", buyerId: "a", quantity: 2 }];
    const facts = { ...factsOf(outcome), ops: readOperations(ops), database: { final: 3, orders }, isComplete: true };
    const document = measure(documentOf(outcome), facts, historyOf(documentOf(outcome), facts));
    assert.deepEqual(document.stock, { initial: 5, final: 3, orders: 2 });
    assert.equal(document.durationMs, 8);
    const { certified, peakInFlight, peakWaiters } = document.contention;
    assert.deepEqual({ certified, peakInFlight, peakWaiters }, { certified: true, peakInFlight: 2, peakWaiters: 2 });
    assert.deepEqual(document.fairness, { jain: 1, longestWaitMs: 7 });
    assert.deepEqual(document.handOff, { count: 0, p50Ms: null, p99Ms: null, maxMs: null });
    assert.ok(Object.values(document.violations).every((count) => count === 0));
    assert.equal(document.firstViolationMs, undefined);
  });

  it("says when the first harm was done, which is later than the overlap that it came from", () => {
    const at = (us: number) => String(1_000_000n + BigInt(us) * 1_000n);
    const buyer = (index: number, readUs: number): HistoryOpLine => ({
      type: "op",
      opId: `op-${index}`,
      node: "node-1",
      host: "h",
      buyerId: `buyer-${index}`,
      quantity: 1,
      invokedNs: at(0),
      grantedNs: at(readUs - 1),
      readNs: at(readUs),
      readValue: 5,
      writeNs: at(readUs + 400),
      writtenValue: 4,
      writeAccepted: true,
      committedNs: at(readUs + 450),
      releasedNs: at(readUs + 500),
      answeredNs: at(readUs + 510),
      outcome: "sold",
    });
    const outcome = { stock: 5, final: 4, buyers: ["buyer-0", "buyer-1"] };
    const facts = { ...factsOf(outcome), ops: readOperations([buyer(0, 100), buyer(1, 200)]), isComplete: true };
    const document = measure(documentOf(outcome), facts, historyOf(documentOf(outcome), facts));
    assert.deepEqual([document.violations.lostUpdates, document.violations.overlappingHolds], [1, 1]);
    assert.equal(document.firstViolationMs, 0.65);
  });
});
