import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  byFamily,
  type CatalogueStrategy,
  engineLabel,
  isUnsafeWith,
  neighbour,
  preferredEngine,
} from "./strategy-catalogue";

function strategy(id: string, family: CatalogueStrategy["family"]): CatalogueStrategy {
  return {
    id,
    family,
    familyLabel: family,
    needsLabels: [],
    kind: "lock",
    mechanism: "",
    remark: "",
    needs: ["postgres"],
    waiting: "none",
    fair: false,
    expiryClock: "none",
    fencingSource: null,
    expected: { alone: "safe", threeNodes: "unsafe" },
    survives: { holderCrash: "survives", holderPause: "survives", serverRestart: "survives" },
    available: true,
    unavailableReason: null,
  };
}

const strategies = [strategy("none", "baseline"), strategy("redis-lock", "redis"), strategy("local-mutex", "baseline")];

describe("strategy catalogue", () => {
  it("groups strategies by family in the order given", () => {
    const groups = byFamily(strategies).map((group) => [group.family, group.strategies.map((one) => one.id)]);
    assert.deepEqual(groups, [
      ["baseline", ["none", "local-mutex"]],
      ["redis", ["redis-lock"]],
    ]);
  });

  it("steps through the list in display order and wraps around at both ends", () => {
    assert.equal(neighbour(strategies, "none", 1), "local-mutex");
    assert.equal(neighbour(strategies, "local-mutex", 1), "redis-lock");
    assert.equal(neighbour(strategies, "redis-lock", 1), "none");
    assert.equal(neighbour(strategies, "none", -1), "redis-lock");
    assert.equal(neighbour(strategies, "gone", 1), "none");
    assert.equal(neighbour([], "none", 1), "none");
  });

  it("reports a strategy that is safe on one node and unsafe on three", () => {
    const [one] = strategies;
    assert.ok(one);
    assert.equal(isUnsafeWith(one, 1), false);
    assert.equal(isUnsafeWith(one, 3), true);
  });

  it("prefers k6 if the lab has it", () => {
    const builtin = {
      id: "builtin",
      available: true,
      version: null,
      reason: null,
      maxBuyers: 20_000,
      limitedBy: "a test",
    } as const;
    const k6 = {
      id: "k6",
      available: true,
      version: "v2.2.0",
      reason: null,
      maxBuyers: 20_000,
      limitedBy: "a test",
    } as const;
    assert.equal(preferredEngine([k6, builtin]), "k6");
    assert.equal(preferredEngine([{ ...k6, available: false }, builtin]), "builtin");
    assert.equal(engineLabel(k6), "k6 2.2.0");
    assert.equal(engineLabel({ ...k6, version: "k6 v2.2.0" }), "k6 2.2.0");
    assert.equal(engineLabel({ ...builtin, version: "builtin (Node.js v20.20.2)" }), "built-in");
  });
});
