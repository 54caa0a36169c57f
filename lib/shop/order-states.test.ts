import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isFinal, isLive, mayBecome, ORDER_STATUSES } from "./order-states";

describe("the states of an order", () => {
  it("lead from pending to each of the others, and nowhere from there", () => {
    const steps = ORDER_STATUSES.flatMap((from) =>
      ORDER_STATUSES.filter((to) => mayBecome(from, to)).map((to) => `${from} -> ${to}`),
    );
    assert.deepEqual(steps, ["pending -> paid", "pending -> cancelled", "pending -> expired"]);
  });

  it("count for the buyer's limit until the units are back", () => {
    assert.deepEqual(ORDER_STATUSES.filter(isLive), ["pending", "paid"]);
    assert.deepEqual(ORDER_STATUSES.filter(isFinal), ["paid", "cancelled", "expired"]);
  });
});
