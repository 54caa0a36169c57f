import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { faultDescription, faultOptions, faultProblem, faultsOfValue, faultValue } from "./fault-choice";
import type { CatalogueFault } from "./strategy-catalogue";

const catalogue: readonly CatalogueFault[] = [
  { id: "pause-holder", does: "Stops the node.", topology: null, reasonsAgainst: { none: "it holds no lock" } },
];
const values = (strategy: string, value: string) =>
  faultOptions({ strategy, faults: faultsOfValue(value) }, catalogue).map((option) => option.value);

describe("fault setting", () => {
  it("offers none and the faults applicable to the strategy", () => {
    assert.deepEqual(values("redis-lock", "none"), ["none", "pause-holder"]);
    assert.deepEqual(values("none", "none"), ["none"]);
  });

  it("keeps a fault from the URL with its start time and duration", () => {
    const value = "pause-holder@500+2500";
    assert.deepEqual(values("redis-lock", value), ["none", "pause-holder", value]);
    assert.equal(faultValue(faultsOfValue(value)), value);
    assert.equal(faultValue(faultsOfValue("none")), "none");
  });

  it("describes the fault, or says why it is not applicable", () => {
    const faults = faultsOfValue("pause-holder");
    assert.equal(faultDescription({ strategy: "redis-lock", faults }, catalogue), "Stops the node.");
    assert.equal(faultDescription({ strategy: "redis-lock", faults: [] }, catalogue), null);
    assert.equal(faultProblem({ strategy: "redis-lock", faults }, catalogue), null);
    const problem = faultProblem({ strategy: "none", faults }, catalogue);
    assert.equal(problem, "not applicable to none: it holds no lock");
  });
});
