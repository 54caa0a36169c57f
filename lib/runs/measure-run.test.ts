import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { HistoryOpLine, HistoryOrder } from "../history/types";
import { checkRun } from "./checked-runs";
import { piecesOf } from "./history-export";
import { measureRun } from "./measure-run";
import { newDocument } from "./new-document";
import { runRequestSchema } from "./run-request";

interface Outcome {
  readonly stock: number;
  readonly final: number;
  readonly orders: readonly HistoryOrder[];
  readonly ops?: readonly HistoryOpLine[];
  readonly kind?: "product" | "coupon";
  readonly counter?: number | null;
}

/** One order of one unit for each buyer. */
function ordersOf(buyers: readonly string[]): HistoryOrder[] {
  return buyers.map((buyerId, index) => ({ orderId: `${index}`, opId: `op-${index}`, buyerId, quantity: 1 }));
}

async function measured({ stock, final, orders, ops = [], kind = "product", counter }: Outcome) {
  const request = runRequestSchema.parse({ strategy: "sql-guarded", stock });
  const document = newDocument({
    id: "r",
    request,
    target: { kind, id: 7 },
    nodes: 3,
    expected: "safe",
    versions: {},
  });
  const ndjson = ops.map((op) => `${JSON.stringify(op)}\n`).join("");
  const nodes = [{ node: "node-1", operations: ops.length, dropped: ops.length === 0 ? 1 : 0, ndjson }];
  const checked = await checkRun(piecesOf(document, { nodes, orders, final, counter }));
  const drift = counter === undefined ? null : { counter, stock: final, pending: 0, drift: 0 };
  return measureRun(document, { stats: [], database: { final, orders }, drift }, checked);
}

const violationsOf = async (outcome: Outcome) => (await measured(outcome)).violations;
const buyers = (count: number) => Array.from({ length: count }, (_, index) => `buyer-${index}`);

describe("a run's throughput", () => {
  it("counts only units that can be delivered", async () => {
    const ops = ["0", "1000000000"].map((ns, index): HistoryOpLine => {
      const opId = `op-${index}`;
      const who = { opId, node: "node-1", host: "h", buyerId: `buyer-${index}`, quantity: 1, orderId: `${index}` };
      return { type: "op", ...who, invokedNs: ns, answeredNs: String(2 * Number(ns) || 1), outcome: "sold" };
    });
    const sold = async (count: number) => {
      const outcome = { stock: 100, final: 0, orders: ordersOf(buyers(count)), ops };
      return (await measured(outcome)).throughput.soldPerSecond;
    };
    assert.deepEqual([await sold(60), await sold(100), await sold(500)], [30, 50, 50]);
  });
});

describe("a run's violations", () => {
  it("include units that were sold twice", async () => {
    const { oversold, lostUpdates } = await violationsOf({ stock: 100, final: 0, orders: ordersOf(buyers(131)) });
    assert.deepEqual({ oversold, lostUpdates }, { oversold: 31, lostUpdates: 31 });
  });

  it("include the units between a counter outside the row and the row", async () => {
    const withCounter = (counter: number | null) =>
      violationsOf({ stock: 100, final: 40, orders: ordersOf(buyers(60)), counter });
    assert.deepEqual([(await withCounter(37)).counterDrift, (await withCounter(37)).undersold], [3, 0]);
    assert.equal((await withCounter(43)).counterDrift, 3);
    assert.equal((await withCounter(-1)).negativeStock, 1);
    for (const counter of [40, null]) {
      const counts = Object.values(await withCounter(counter));
      assert.ok(
        counts.every((count) => count === 0),
        `counter ${counter}: ${counts}`,
      );
    }
  });

  it("include a second coupon of one buyer, but not a second unit of a product", async () => {
    const outcome = { stock: 9, final: 6, orders: ordersOf(["a", "b", "a"]) };
    assert.equal((await violationsOf({ ...outcome, kind: "coupon" })).duplicateClaims, 1);
    assert.equal((await violationsOf(outcome)).duplicateClaims, 0);
  });

  it("are empty exactly when initial = final + orders and neither is out of range", async () => {
    const size = fc.integer({ min: 0, max: 50 });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: -5, max: 55 }),
        size,
        async (stock, final, sold) => {
          const counts = Object.values(await violationsOf({ stock, final, orders: ordersOf(buyers(sold)) }));
          const isConserved = stock === final + sold && final >= 0 && sold <= stock;
          assert.equal(
            counts.some((count) => count > 0),
            !isConserved,
          );
        },
      ),
    );
  });
});

describe("measureRun", () => {
  it("counts units, not orders, and derives contention and waits from the operations", async () => {
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
    const document = await measured({ stock: 5, final: 3, orders, ops });
    assert.deepEqual(document.stock, { initial: 5, final: 3, orders: 2 });
    assert.equal(document.durationMs, 8);
    const { certified, contendedSections, peakInFlight, peakWaiters } = document.contention;
    assert.deepEqual([certified, contendedSections, peakInFlight, peakWaiters], [true, 1, 2, 2]);
    assert.deepEqual(document.fairness, { jain: 1, longestWaitMs: 7 });
    assert.deepEqual(document.handOff, { count: 0, p50Ms: null, p99Ms: null, maxMs: null });
    assert.ok(Object.values(document.violations).every((count) => count === 0));
    assert.deepEqual(document.firstSeenMs, {});
  });

  it("certifies no contention if purchases overlap but none waited for a hold of another", async () => {
    const during = (index: number, [from, granted, to]: readonly [number, number, number]): HistoryOpLine => {
      const times = { invokedNs: "0", waitNs: String(from), grantedNs: String(granted), releasedNs: String(to) };
      const who = { opId: `op-${index}`, node: "node-1", host: "h", buyerId: `buyer-${index}`, quantity: 1 };
      return { type: "op", ...who, ...times, answeredNs: "90", outcome: "contended" };
    };
    const ops = [during(0, [10, 11, 20]), during(1, [30, 31, 40])];
    const { contention } = await measured({ stock: 5, final: 5, orders: [], ops });
    assert.deepEqual([contention.certified, contention.contendedSections, contention.peakInFlight], [false, 0, 2]);
  });

  it("dates each kind of violation by its own first finding", async () => {
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
    const ops = [buyer(0, 100), buyer(1, 200)];
    const document = await measured({ stock: 5, final: 4, orders: ordersOf(["buyer-0", "buyer-1"]), ops });
    assert.deepEqual([document.violations.lostUpdates, document.violations.overlappingHolds], [1, 1]);
    assert.deepEqual(document.firstSeenMs, { lostUpdates: 0.65, overlappingHolds: 0.199 });
  });
});
