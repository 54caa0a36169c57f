import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { joinHistories } from "./node-history";

function history(opIds: readonly string[], dropped = 0) {
  const ndjson = opIds.map((opId) => `${JSON.stringify({ type: "op", opId })}\n`).join("");
  return { node: "node-1", operations: opIds.length, dropped, ndjson };
}

describe("two collections of a node's history", () => {
  it("keep every operation when the node did not answer the second time", () => {
    assert.deepEqual(joinHistories(history(["a", "b"]), history([], 1)), history(["a", "b"]));
  });

  it("keep every operation when a restarted node has recorded others", () => {
    assert.deepEqual(joinHistories(history(["a", "b"], 1), history(["b", "c"], 2)), history(["a", "b", "c"], 2));
  });

  it("take the count of missing operations from the collection that has all operations", () => {
    assert.deepEqual(joinHistories(history(["a"], 3), history(["a", "b"])), history(["a", "b"]));
    assert.deepEqual(joinHistories(history(["a", "b"], 2), history(["a", "b"], 1)), history(["a", "b"], 1));
  });
});
