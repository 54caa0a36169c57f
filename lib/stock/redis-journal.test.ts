import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { journalText, parseJournal } from "./redis-journal";

describe("the journal of the Redis counter", () => {
  it("reads back what it writes, for any buyer id", () => {
    const fields = {
      opId: fc.string({ minLength: 1 }),
      quantity: fc.integer({ min: 1, max: 1_000 }),
      buyerId: fc.string(),
      takenAtEpochMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
    };
    const entry = fc.record(fields, { noNullPrototype: true });
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        assert.deepEqual(parseJournal(entries.flatMap((each) => [each.opId, journalText(each)])), entries);
      }),
    );
  });

  it("fails on a value that is not an entry, and names it", () => {
    assert.throws(() => parseJournal(["op-1", "nonsense"]), /op-1/);
  });
});
