import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { advisoryKeyOf } from "./resource-hash";

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;

describe("advisoryKeyOf", () => {
  it("gives the key that other programs and versions must come to as well", () => {
    assert.equal(advisoryKeyOf("product:42"), 2_072_798_563_966_034_932n);
    assert.equal(advisoryKeyOf("coupon:42"), -1_869_460_121_236_234_733n);
  });

  it("fits PostgreSQL's bigint for every resource, and differs for different ones", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ maxLength: 200 }), { minLength: 2, maxLength: 50 }), (resources) => {
        const keys = resources.map(advisoryKeyOf);
        assert.ok(keys.every((key) => key >= LEAST && key <= MOST));
        assert.equal(new Set(keys).size, resources.length);
      }),
    );
  });
});
