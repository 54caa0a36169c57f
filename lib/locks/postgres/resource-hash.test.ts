import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { advisoryKeyOf } from "./resource-hash";

const MIN_BIGINT = -(2n ** 63n);
const MAX_BIGINT = 2n ** 63n - 1n;

describe("advisoryKeyOf", () => {
  it("returns the documented key, which other programs must also compute", () => {
    assert.equal(advisoryKeyOf("product:42"), 2_072_798_563_966_034_932n);
    assert.equal(advisoryKeyOf("coupon:42"), -1_869_460_121_236_234_733n);
  });

  it("fits a PostgreSQL bigint and differs between resources", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ maxLength: 200 }), { minLength: 2, maxLength: 50 }), (resources) => {
        const keys = resources.map(advisoryKeyOf);
        assert.ok(keys.every((key) => key >= MIN_BIGINT && key <= MAX_BIGINT));
        assert.equal(new Set(keys).size, resources.length);
      }),
    );
  });
});
