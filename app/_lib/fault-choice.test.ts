import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { faultDescription, faultOptions, faultProblem, faultsOfValue, faultValue } from "./fault-choice";
import type { CatalogueFault } from "./strategy-catalogue";

const catalogue: readonly CatalogueFault[] = [
  { id: "pause-holder", does: "Stops the node.", reasonsAgainst: { none: "nobody holds anything" } },
];
const values = (strategy: string, value: string) =>
  faultOptions({ strategy, faults: faultsOfValue(value) }, catalogue).map((option) => option.value);

describe("the choice of a fault", () => {
  it("offers none and what can be done to the strategy", () => {
    assert.deepEqual(values("redis-lock", "none"), ["none", "pause-holder"]);
    assert.deepEqual(values("none", "none"), ["none"]);
  });

  it("keeps what an address came with, moment and length included", () => {
    const value = "pause-holder@500+2500";
    assert.deepEqual(values("redis-lock", value), ["none", "pause-holder", value]);
    assert.equal(faultValue(faultsOfValue(value)), value);
    assert.equal(faultValue(faultsOfValue("none")), "none");
  });

  it("says what will be done, or why it cannot be", () => {
    const faults = faultsOfValue("pause-holder");
    assert.equal(faultDescription({ strategy: "redis-lock", faults }, catalogue), "Stops the node.");
    assert.equal(faultDescription({ strategy: "redis-lock", faults: [] }, catalogue), null);
    assert.equal(faultProblem({ strategy: "redis-lock", faults }, catalogue), null);
    const problem = faultProblem({ strategy: "none", faults }, catalogue);
    assert.equal(problem, "not for none: nobody holds anything");
  });
});
