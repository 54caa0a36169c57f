import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { runSample } from "../../tests/support/run-fixture";
import { activeSpan, phaseColumns, rateColumns, STACK_ORDER, stacked, stockColumns } from "./series";

const quiet = (seq: number) => runSample(seq);
const counts = (requests: number) => ({ ...runSample(0).counts, requests });
const selling = (seq: number, orders: number) =>
  runSample(seq, { orders, stockLeft: 100 - orders, inFlight: 5, counts: counts(orders) });
const over = (seq: number) => runSample(seq, { orders: 100, stockLeft: 0, counts: counts(100) });

describe("the active part of a feed", () => {
  it("begins with the last quiet moment and ends with the first complete sample", () => {
    const span = activeSpan([quiet(1), quiet(2), selling(3, 40), selling(4, 100), over(5), over(6), over(7)]);
    assert.equal(span.fromMs, 500);
    assert.deepEqual(
      span.samples.map((sample) => sample.seq),
      [3, 4, 5],
    );
  });

  it("is empty before the first purchase", () => {
    assert.deepEqual(activeSpan([quiet(1), quiet(2)]).samples, []);
    assert.deepEqual(activeSpan([]).samples, []);
  });

  it("keeps a lull in the middle of a sale", () => {
    const lull = runSample(4, { orders: 40, stockLeft: 60, counts: counts(40) });
    assert.equal(activeSpan([selling(3, 40), lull, selling(5, 70), over(6)]).samples.length, 4);
  });
});

describe("columns", () => {
  it("start the stock at its full height when the doors open", () => {
    const { x, ys } = stockColumns(100, [quiet(1), selling(2, 40)]);
    assert.deepEqual(x, [0, 0.25]);
    assert.deepEqual(ys, [
      [0, 40],
      [100, 60],
      [0, 0],
    ]);
  });

  it("leave an interval empty in which nothing completed", () => {
    const { ys } = phaseColumns([selling(1, 1)]);
    assert.deepEqual(
      ys,
      STACK_ORDER.map(() => [null]),
    );
  });

  it("have one y value for every x", () => {
    const { x, ys } = rateColumns([selling(1, 10), selling(2, 20)]);
    assert.ok(ys.every((column) => column.length === x.length));
  });
});

describe("stacked", () => {
  it("adds up from the bottom and leaves nothing as nothing", () => {
    assert.deepEqual(
      stacked([
        [1, null],
        [2, null],
        [null, null],
      ]),
      [
        [1, null],
        [3, null],
        [3, null],
      ],
    );
  });

  it("never falls from one level to the next", () => {
    const column = fc.array(fc.option(fc.nat(1000)), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(column, { minLength: 1, maxLength: 4 }), (ys) => {
        const sums = stacked(ys);
        return sums.every((level, index) =>
          level.every((sum, at) => index === 0 || sum === null || sum >= (sums[index - 1]?.[at] ?? 0)),
        );
      }),
    );
  });
});
