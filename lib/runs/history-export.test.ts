import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { piecesOf } from "./history-export";
import { newDocument } from "./new-document";
import { runRequestSchema } from "./run-request";

describe("the exported history of a run", () => {
  it("says in its end line how many operations the nodes recorded", () => {
    const document = newDocument({
      id: "r",
      request: runRequestSchema.parse({ strategy: "sql-guarded", stock: 5 }),
      target: { kind: "product", id: 7 },
      nodes: 2,
      expected: "safe",
      versions: {},
    });
    const nodes = [3, 4].map((operations, index) => ({ node: `node-${index}`, operations, dropped: 0, ndjson: "" }));
    const end = [...piecesOf(document, { nodes, orders: [], final: 5 })].at(-1);
    assert.deepEqual(end, { type: "end", final: 5, operations: 7, orders: [], dropped: 0 });
  });
});
