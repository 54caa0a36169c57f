import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { checkHistory } from "../../lib/history/check-history";
import { type CounterCall, explainable } from "../../lib/history/testing/decrement-object";
import { op, rowOf } from "../../lib/history/testing/make-history";
import type { HistoryOpLine } from "../../lib/history/types";

/** Few calls and few instants, so that all orders of events occur, with ties. */
const calls = fc.tuple(
  fc.integer({ min: 1, max: 4 }),
  fc.array(
    fc.record<CounterCall>({
      from: fc.nat(8),
      length: fc.nat(3),
      outcome: fc.constantFrom("sold", "sold", "sold_out", "failed", "unknown"),
      quantity: fc.integer({ min: 1, max: 2 }),
      value: fc.option(fc.integer({ min: 0, max: 5 })),
    }),
    { minLength: 1, maxLength: 5 },
  ),
);

function toOp({ from, length, outcome, quantity, value }: CounterCall): HistoryOpLine {
  const took = outcome === "sold_out" || value === null ? {} : { writtenValue: value - quantity };
  return op({
    invokedNs: from,
    writeNs: from,
    answeredNs: from + length,
    outcome: outcome === "failed" ? "error" : outcome,
    quantity,
    ...(value === null ? {} : { readNs: from, readValue: value }),
    ...took,
    ...(outcome === "sold" ? { writeAccepted: true } : {}),
    ...(outcome === "sold_out" ? { writeAccepted: false } : {}),
  });
}

/** The report of a sale whose totals match, so that only the answers can be wrong. */
async function reportOf(all: readonly CounterCall[], initial: number) {
  const ops = all.map(toOp);
  const orders = ops.filter(({ outcome }) => outcome === "sold").map((line) => rowOf(line));
  const final = initial - orders.reduce((sum, { quantity }) => sum + quantity, 0);
  const run = { type: "run", runId: "r", strategy: "redis-decrement", resource: "p", initial } as const;
  const end = { type: "end", final, orders, dropped: 0 } as const;
  return checkHistory([{ ...run, limitPerBuyer: null, hosts: 1 }, ...ops, end]);
}

describe("the checks of values compared with a decrement object that has give-backs", () => {
  it("find no violation if some order of decrements and give-backs explains the answers", async () => {
    let explained = 0;
    await fc.assert(
      fc.asyncProperty(calls, async ([initial, all]) => {
        if (!explainable(all, initial)) return;
        explained += 1;
        const { verdict, findings } = await reportOf(all, initial);
        assert.notEqual(verdict, "unsafe", findings.map(({ sentence }) => sentence).join("\n"));
      }),
      { numRuns: 4_000 },
    );
    assert.ok(explained > 100, `expected more than 100 explainable histories, found ${explained}`);
  });

  it("find a violation in every unexplainable history of sales that all recorded values", async () => {
    const sales = calls.map(([initial, all]): [number, CounterCall[]] => [
      initial,
      all.map((call) => ({ ...call, from: 0, outcome: "sold", value: call.value ?? initial, quantity: 1 })),
    ]);
    await fc.assert(
      fc.asyncProperty(sales, async ([initial, all]) => {
        const { verdict, findings } = await reportOf(all, initial);
        const sentences = findings.map(({ sentence }) => sentence).join("\n");
        assert.equal(verdict === "unsafe", !explainable(all, initial), sentences);
      }),
      { numRuns: 2_000 },
    );
  });
});
