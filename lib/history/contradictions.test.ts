import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { contradictionIn } from "./contradictions";
import { readOperations, timesOutOfOrder } from "./operation";
import { type OpFields, op } from "./testing/make-history";

const read = (fields: OpFields) => readOperations([op({ opId: "a", ...fields })])[0] ?? assert.fail();
const hold = { waitNs: 1, grantedNs: 2, releasedNs: 8, answeredNs: 9 };
const write = { readNs: 3, readValue: 5, writeNs: 4, writtenValue: 4, writeAccepted: true, committedNs: 5 };

describe("contradictionIn", () => {
  for (const [what, fields, expected] of [
    ["an order for a refused purchase", { outcome: "sold_out", orderId: "7" }, /the outcome sold_out and the order 7$/],
    [
      "a written value without a write",
      { writtenValue: 4, readNs: 1, readValue: 5 },
      /writtenValue for a, but no writeNs/,
    ],
    ["a commit without a write", { committedNs: 4 }, /committedNs for a, but no writeNs/],
    ["an accepted write without its time", { writeAccepted: true }, /was accepted, but has no writeNs/],
    ["an accepted write without its value", { ...write, writtenValue: undefined }, /has readValue but no writtenValue/],
    [
      "an accepted write of a value from nothing",
      { ...write, readValue: undefined },
      /has writtenValue but no readValue/,
    ],
    ["a value without the time of its read", { readValue: 4 }, /neither readNs nor writeNs/],
    ["a holder without a grant", { holderId: "h" }, /holderId for a, but no grantedNs/],
    ["a token without a grant", { fencingToken: 4 }, /fencingToken for a, but no grantedNs/],
    ["a release without a grant", { releasedNs: 4 }, /releasedNs for a, but no grantedNs/],
    ["a lost lease without a grant", { leaseLostNs: 4 }, /leaseLostNs for a, but no grantedNs/],
    ["a transaction without a grant", { transactional: true }, /a transaction held the lock of a/],
  ] satisfies [string, OpFields, RegExp][]) {
    it(`finds ${what}`, () => assert.match(contradictionIn(read(fields)) ?? "nothing", expected));
  }

  it("finds nothing in what the strategies record", () => {
    const bucket = { writeNs: 1, writeAccepted: true, committedNs: 2, answeredNs: 3 };
    const refusedByRow = { ...write, writeAccepted: false, committedNs: undefined, outcome: "rejected" } as const;
    for (const fields of [
      hold,
      { ...hold, ...write },
      write,
      bucket,
      refusedByRow,
      { outcome: "contended" } as const,
    ]) {
      assert.equal(contradictionIn(read(fields)), null, JSON.stringify(fields));
    }
  });
});

describe("timesOutOfOrder", () => {
  for (const field of ["waitNs", "grantedNs", "readNs", "writeNs", "releasedNs", "leaseLostNs"] as const) {
    it(`finds an answer before ${field}`, () => {
      const late = { [field]: 9, answeredNs: 5 };
      assert.deepEqual(timesOutOfOrder(read(late)), [field, "answeredNs"]);
      assert.equal(timesOutOfOrder(read({ ...late, outcome: "unknown" })), null);
    });
  }
});
