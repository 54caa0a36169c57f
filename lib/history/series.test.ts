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

function madeOf(making: HistoryOptions): Series {
  const series = seriesOf(history(making));
  assert.ok(series);
  return series;
}

/** Told "sold" at a millisecond, having written what it read less one. */
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
  it("has between 48 and 120 of a round length, however long it was", () => {
    fc.assert(
      fc.property(fc.integer({ min: 120_000, max: Number.MAX_SAFE_INTEGER }), (spanNs) => {
        const stepNs = stepNsFor(spanNs);
        const steps = Math.ceil(spanNs / stepNs);
        assert.match(String(stepNs), /^[125]0*$/);
        assert.ok(steps >= 48 && steps <= 120, `${steps} of ${stepNs} ns`);
      }),
    );
    assert.equal(stepNsFor(0), 1_000);
    assert.equal(stepNsFor(400 * MS), 5 * MS);
  });

  it("puts what happens at the end of a step into that step", () => {
    const { stepUs, steps } = madeOf({ ops: [sale(10, 100), sale(110, 99), sale(111, 98)] });
    assert.deepEqual([stepUs, steps.ordered.length], [1_000, 111]);
    assert.deepEqual([steps.ordered[9], steps.ordered[109], steps.ordered[110]], [1, 1, 1]);
  });

  it("places an order when it was committed and counts a purchase when it was answered", () => {
    const { steps } = madeOf({ ops: [sale(10, 100, { committedNs: 4 * MS }), sale(100, 99)] });
    assert.deepEqual([steps.ordered[3], steps.ordered[9], steps.answered[9]], [1, 0, 1]);
  });

  it("lets the stock rise again where a holder wrote over another's write, and ends on what the database had", () => {
    const ops = [sale(10, 100), sale(20, 99), sale(30, 100), sale(100, 99)];
    const { steps } = madeOf({ ops, end: { final: 97, orders: ops.map((line) => rowOf(line)) } });
    assert.deepEqual(
      [5, 10, 20, 30, 99, 100].map((ms) => steps.stockLeft[ms - 1]),
      [100, 99, 98, 99, 99, 97],
    );
  });

  it("takes the write that began later for the later one, whichever reply came first", () => {
    const late = sale(10, 100, { committedNs: 40 * MS, answeredNs: 40 * MS });
    const { steps } = madeOf({ ops: [late, sale(30, 99), sale(100, 98)] });
    assert.deepEqual([steps.stockLeft[29], steps.stockLeft[39]], [98, 98]);
  });

  it("counts the stock down by what was taken where writes are atomic, or the counter is elsewhere", () => {
    const atomic = (atMs: number, writtenValue: number) =>
      sale(atMs, writtenValue + 1, { readNs: (atMs - 1) * MS, writtenValue });
    // The second to be through was the first to be answered.
    assert.deepEqual(madeOf({ ops: [atomic(10, 98), atomic(20, 99), atomic(100, 97)] }).steps.stockLeft[15], 99);
    const ops = [sale(10, 50), sale(100, 49)];
    const elsewhere = madeOf({ ops, end: { final: 98, counter: 48, orders: ops.map((line) => rowOf(line)) } });
    assert.equal(elsewhere.steps.stockLeft[50], 99);
  });

  it("has percentiles of the purchases answered in a step, and none where nobody was answered", () => {
    const ops = [1, 2, 3, 4].map((ms) => sale(100, 100 - ms, { invokedNs: (100 - ms) * MS }));
    const { steps } = madeOf({ ops: [op({ invokedNs: 0, answeredNs: MS, outcome: "sold_out" }), ...ops] });
    assert.deepEqual([steps.p50Ms[99], steps.p99Ms[99], steps.p50Ms[50]], [2, 4, null]);
    assert.deepEqual([steps.phaseMediansMs.hold[99], steps.phaseMediansMs.commit[99]], [2, 1]);
  });

  it("knows of waits for connections only where somebody measured them", () => {
    const waited = sale(100, 100, { poolWaitUs: 1_500 });
    assert.equal(madeOf({ ops: [waited] }).steps.phaseMediansMs.poolWait[99], 1.5);
    assert.equal(madeOf({ ops: [waited, sale(100, 99), sale(100, 98)] }).steps.phaseMediansMs.poolWait[99], 0);
    assert.equal(madeOf({ ops: [sale(100, 100)] }).steps.phaseMediansMs.poolWait[99], null);
  });

  it("counts a wait for a connection for no other phase than its own", () => {
    const waits = { poolWaitUs: 1_250, holdPoolUs: 1_000, commitPoolUs: 250 };
    const { poolWait, hold, commit } = madeOf({ ops: [sale(100, 100, waits)] }).steps.phaseMediansMs;
    assert.deepEqual([poolWait[99], hold[99], commit[99]], [1.25, 1, 0.75]);
  });

  it("is none without purchases, and none where several clocks timed them", () => {
    assert.equal(seriesOf(history()), null);
    assert.equal(seriesOf(history({ ops: [op(), op({ host: "elsewhere" })] })), null);
  });

  it("has one step for a single moment", () => {
    const { steps } = madeOf({ ops: [op({ invokedNs: 5, outcome: "unknown" })] });
    assert.deepEqual([steps.answered, steps.inFlight, steps.stockLeft], [[0], [1], [100]]);
  });
});

/** Purchases of any length in any order, some never answered, some with a row that is late or was never recorded. */
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

describe("whatever a run was like, its steps", () => {
  it("add up to its totals, end on its last stock, and peak where it peaked", () => {
    fc.assert(
      fc.property(anyOps, fc.nat(3), (lines: HistoryOpLine[], strays) => {
        const known = history({ ops: lines });
        const orders = [...(known.end?.orders ?? [])];
        for (let stray = 0; stray < strays; stray += 1) orders.push({ ...rowOf(op()), orderId: `stray-${stray}` });
        const series = madeOf({ ops: lines, end: { final: -7, orders } });
        const ops = readOperations(lines);
        const { steps } = series;
        assert.equal(sum(steps.ordered) + series.unplacedUnits, sum(orders.map(({ quantity }) => quantity)));
        assert.equal(series.unplacedUnits, strays);
        assert.equal(sum(steps.answered), lines.filter(({ answeredNs }) => answeredNs !== undefined).length);
        assert.equal(steps.stockLeft.at(-1), -7);
        assert.equal(Math.max(...steps.waiting), peakOverlap(waitsOf(ops)));
        assert.ok(Math.max(...steps.inFlight) >= peakInFlight(ops));
        const { phaseMediansMs, ...columns } = steps;
        const lengths = [...Object.values(columns), ...Object.values(phaseMediansMs)].map(({ length }) => length);
        assert.deepEqual(new Set(lengths), new Set([steps.ordered.length]));
        for (const [at, p50] of steps.p50Ms.entries()) {
          assert.equal(p50 === null, steps.answered[at] === 0);
          assert.ok(p50 === null || p50 <= (steps.p99Ms[at] ?? 0));
        }
      }),
    );
  });

  it("are the same by any clock and in any order of the lines", () => {
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

  it("take the stock down by the orders where every order took its units", () => {
    fc.assert(
      fc.property(anyOps, (lines) => {
        const { steps } = madeOf({ ops: lines });
        let ordered = 0;
        steps.ordered.forEach((units, at) => {
          ordered += units;
          assert.equal(steps.stockLeft[at], 100 - ordered);
        });
      }),
    );
  });
});
