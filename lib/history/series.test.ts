import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { peakInFlight, peakOverlap, waitsOf } from "./intervals";
import { readOperations } from "./operation";
import { type Series, seriesOf } from "./series";
import { stepNsFor } from "./step-grid";
import { type HistoryOptions, history, op, rowOf } from "./testing/make-history";
import type { HistoryOpLine } from "./types";

const MS = 1_000_000;
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function seriesFrom(options: HistoryOptions): Series {
  const series = seriesOf(history(options));
  assert.ok(series);
  return series;
}

/** A read-modify-write of one unit that is answered "sold" at `atMs`. */
const sale = (atMs: number, readValue: number, fields: Parameters<typeof op>[0] = {}) =>
  op({
    invokedNs: 0,
    grantedNs: (atMs - 3) * MS,
    readNs: (atMs - 2) * MS,
    readValue,
    writeNs: (atMs - 1) * MS,
    writtenValue: readValue - 1,
    writeAccepted: true,
    committedNs: atMs * MS,
    answeredNs: atMs * MS,
    ...fields,
  });

describe("a run in steps", () => {
  it("has 48 to 120 steps of a round length for any duration", () => {
    fc.assert(
      fc.property(fc.integer({ min: 120_000, max: Number.MAX_SAFE_INTEGER }), (spanNs) => {
        const stepNs = stepNsFor(spanNs);
        const steps = Math.ceil(spanNs / stepNs);
        assert.match(String(stepNs), /^[125]0*$/);
        assert.ok(steps >= 48 && steps <= 120, `expected 48 to 120 steps, found ${steps} of ${stepNs} ns`);
      }),
    );
    assert.equal(stepNsFor(0), 1_000);
    assert.equal(stepNsFor(400 * MS), 5 * MS);
  });

  it("counts an event at the end of a step in that step", () => {
    const { stepUs, steps } = seriesFrom({ ops: [sale(10, 100), sale(110, 99), sale(111, 98)] });
    assert.deepEqual([stepUs, steps.ordered.length], [1_000, 111]);
    assert.deepEqual([steps.ordered[9], steps.ordered[109], steps.ordered[110]], [1, 1, 1]);
  });

  it("counts an order at its commit and a purchase at its answer", () => {
    const { steps } = seriesFrom({ ops: [sale(10, 100, { committedNs: 4 * MS }), sale(100, 99)] });
    assert.deepEqual([steps.ordered[3], steps.ordered[9], steps.answered[9]], [1, 0, 1]);
  });

  it("counts each answer at its outcome, and every purchase once", () => {
    const outcomes = ["sold", "sold_out", "contended", "rejected", "error", "unknown"] as const;
    const ops = outcomes.map((outcome, index) => sale(10 + index, 100 - index, { outcome }));
    const { steps } = seriesFrom({ ops });
    for (const outcome of outcomes) assert.equal(sum(steps.answers[outcome]), 1, outcome);
    steps.answered.forEach((count, step) => {
      assert.equal(sum(outcomes.map((outcome) => steps.answers[outcome][step] ?? 0)), count);
    });
  });

  it("shows the stock rise if a write overwrites another, and ends with the database's stock", () => {
    const ops = [sale(10, 100), sale(20, 99), sale(30, 100), sale(100, 99)];
    const { steps } = seriesFrom({ ops, end: { final: 97, orders: ops.map((line) => rowOf(line)) } });
    assert.deepEqual(
      [5, 10, 20, 30, 99, 100].map((ms) => steps.stockLeft[ms - 1]),
      [100, 99, 98, 99, 99, 97],
    );
  });

  it("orders writes by their start, not by their replies", () => {
    const late = sale(10, 100, { committedNs: 40 * MS, answeredNs: 40 * MS });
    const { steps } = seriesFrom({ ops: [late, sale(30, 99), sale(100, 98)] });
    assert.deepEqual([steps.stockLeft[29], steps.stockLeft[39]], [98, 98]);
  });

  it("subtracts quantities if writes are atomic or the counter is outside PostgreSQL", () => {
    const atomic = (atMs: number, writtenValue: number) =>
      sale(atMs, writtenValue + 1, { readNs: (atMs - 1) * MS, writtenValue });
    // The second write to execute is the first to be answered.
    assert.deepEqual(seriesFrom({ ops: [atomic(10, 98), atomic(20, 99), atomic(100, 97)] }).steps.stockLeft[15], 99);
    const ops = [sale(10, 50), sale(100, 49)];
    const elsewhere = seriesFrom({ ops, end: { final: 98, counter: 48, orders: ops.map((line) => rowOf(line)) } });
    assert.equal(elsewhere.steps.stockLeft[50], 99);
  });

  it("has percentiles of the purchases answered in a step, and null if there are none", () => {
    const ops = [1, 2, 3, 4].map((ms) => sale(100, 100 - ms, { invokedNs: (100 - ms) * MS }));
    const { steps } = seriesFrom({ ops: [op({ invokedNs: 0, answeredNs: MS, outcome: "sold_out" }), ...ops] });
    assert.deepEqual([steps.p50Ms[99], steps.p99Ms[99], steps.p50Ms[50]], [2, 4, null]);
    assert.deepEqual([steps.phaseMediansMs.hold[99], steps.phaseMediansMs.commit[99]], [2, 1]);
  });

  it("has pool waits only if some purchase measured them", () => {
    const waited = sale(100, 100, { poolWaitUs: 1_500 });
    assert.equal(seriesFrom({ ops: [waited] }).steps.phaseMediansMs.poolWait[99], 1.5);
    assert.equal(seriesFrom({ ops: [waited, sale(100, 99), sale(100, 98)] }).steps.phaseMediansMs.poolWait[99], 0);
    assert.equal(seriesFrom({ ops: [sale(100, 100)] }).steps.phaseMediansMs.poolWait[99], null);
  });

  it("counts a pool wait only in its own phase", () => {
    const waits = { poolWaitUs: 1_250, holdPoolUs: 1_000, commitPoolUs: 250 };
    const { poolWait, hold, commit } = seriesFrom({ ops: [sale(100, 100, waits)] }).steps.phaseMediansMs;
    assert.deepEqual([poolWait[99], hold[99], commit[99]], [1.25, 1, 0.75]);
  });

  it("is null without purchases, and if several hosts timed them", () => {
    assert.equal(seriesOf(history()), null);
    assert.equal(seriesOf(history({ ops: [op(), op({ host: "elsewhere" })] })), null);
  });

  it("has one step for a run of zero length", () => {
    const { steps } = seriesFrom({ ops: [op({ invokedNs: 5, outcome: "unknown" })] });
    assert.deepEqual([steps.answered, steps.inFlight, steps.stockLeft], [[0], [1], [100]]);
  });
});

/** Purchases of random lengths in random order, some without an answer, some with a late or missing row. */
const anyOps = fc
  .array(
    fc.record({
      at: fc.nat(5_000),
      wait: fc.nat(300),
      hold: fc.nat(300),
      quantity: fc.integer({ min: 1, max: 3 }),
      outcome: fc.constantFrom("sold", "sold_out", "unknown", "contended" as const),
      isAnswered: fc.boolean(),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((all) =>
    all.map(({ at, wait, hold, quantity, outcome, isAnswered }) => {
      const grantedNs = (at + wait) * 10_000;
      const endNs = grantedNs + hold * 10_000;
      const wrote = outcome === "sold" ? { writeNs: grantedNs, writeAccepted: true, committedNs: endNs } : {};
      const answered = isAnswered || outcome === "sold" ? { answeredNs: endNs } : {};
      return op({ invokedNs: at * 10_000, waitNs: at * 10_000, grantedNs, quantity, outcome, ...wrote, ...answered });
    }),
  );

describe("the steps of any run", () => {
  it("sum to the run's totals, end with its final stock and have its peaks", () => {
    fc.assert(
      fc.property(anyOps, fc.nat(3), (lines: HistoryOpLine[], strays) => {
        const known = history({ ops: lines });
        const orders = [...(known.end?.orders ?? [])];
        for (let stray = 0; stray < strays; stray += 1) orders.push({ ...rowOf(op()), orderId: `stray-${stray}` });
        const series = seriesFrom({ ops: lines, end: { final: -7, orders } });
        const ops = readOperations(lines);
        const { steps } = series;
        assert.equal(sum(steps.ordered) + series.unplacedUnits, sum(orders.map(({ quantity }) => quantity)));
        assert.equal(series.unplacedUnits, strays);
        assert.equal(sum(steps.answered), lines.filter(({ answeredNs }) => answeredNs !== undefined).length);
        assert.equal(steps.stockLeft.at(-1), -7);
        assert.equal(Math.max(...steps.waiting), peakOverlap(waitsOf(ops)));
        assert.ok(Math.max(...steps.inFlight) >= peakInFlight(ops));
        const { phaseMediansMs, answers, ...columns } = steps;
        const all = [columns, phaseMediansMs, answers].flatMap((some) => Object.values(some));
        const lengths = all.map(({ length }) => length);
        assert.deepEqual(new Set(lengths), new Set([steps.ordered.length]));
        for (const [at, p50] of steps.p50Ms.entries()) {
          assert.equal(p50 === null, steps.answered[at] === 0);
          assert.ok(p50 === null || p50 <= (steps.p99Ms[at] ?? 0));
        }
      }),
    );
  });

  it("do not depend on the clock's origin or the order of the lines", () => {
    fc.assert(
      fc.property(anyOps, fc.bigInt({ min: 0n, max: 10n ** 17n }), (lines, laterNs) => {
        const moved = lines.map((line) => {
          const times = Object.entries(line).filter(([name]) => name.endsWith("Ns"));
          const later = times.map(([name, text]) => [name, String(BigInt(text as string) + laterNs)]);
          return { ...line, ...Object.fromEntries(later) } as HistoryOpLine;
        });
        assert.deepEqual(seriesOf(history({ ops: moved.reverse() })), seriesOf(history({ ops: lines })));
      }),
    );
  });

  it("reduce the stock by the orders if every order took its units", () => {
    fc.assert(
      fc.property(anyOps, (lines) => {
        const { steps } = seriesFrom({ ops: lines });
        let ordered = 0;
        steps.ordered.forEach((units, at) => {
          ordered += units;
          assert.equal(steps.stockLeft[at], 100 - ordered);
        });
      }),
    );
  });
});
