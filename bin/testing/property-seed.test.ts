import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readPropertySeed } from "./property-seed";

describe("the seed of property tests", () => {
  it("is the value of PROPERTY_SEED", () => {
    assert.equal(readPropertySeed("0"), 0);
    assert.equal(readPropertySeed("-2147483647"), -2_147_483_647);
  });

  it("is random if PROPERTY_SEED is empty", () => {
    assert.notEqual(readPropertySeed(""), readPropertySeed(""));
  });

  it("is rejected if it is not a whole number in range", () => {
    for (const given of ["1.5", "2147483648", "-2147483648", "seed"])
      assert.throws(
        () => readPropertySeed(given),
        /PROPERTY_SEED must be a whole number from -2147483647 to 2147483647, not /,
      );
  });
});
