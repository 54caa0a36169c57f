import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isRowRejection, rowRejectionOf } from "./row-rejection";
import { lostReply, sqlError } from "./testing/fake-postgres";

describe("the rejection of an order by its row", () => {
  for (const [state, constraint, status] of [
    ["23505", "coupon_claims_coupon_id_user_id_key", "already_claimed"],
    ["23514", "buyer_allowances_units_check", "limit_reached"],
    ["23505", "orders_idempotency_key", "repeated_key"],
    ["23505", "orders_purchase_token", "token_used"],
  ] as const)
    it(`${constraint} means ${status}`, () => {
      assert.deepEqual(rowRejectionOf(sqlError(state, constraint)), { status });
    });

  it("is none for other constraints, other errors and lost replies", () => {
    assert.equal(rowRejectionOf(sqlError("23505", "orders_pkey")), null);
    assert.equal(rowRejectionOf(sqlError("40001", "orders_idempotency_key")), null);
    assert.equal(rowRejectionOf(lostReply()), null);
  });

  it("is told apart from a row and from no row", () => {
    assert.equal(isRowRejection({ status: "already_claimed" }), true);
    assert.equal(isRowRejection({ order_id: "42" }), false);
    assert.equal(isRowRejection(undefined), false);
  });
});
