import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { MAX_FINDINGS_PER_KIND } from "./finding";
import { firstFindings } from "./first-findings";
import { clockReading, type Operation, readOperations } from "./operation";
import { op } from "./testing/make-history";

interface Found {
  readonly op: Operation;
  readonly ns: number | undefined;
}

const firstFindingsOf = (found: readonly Found[]) =>
  firstFindings(found, {
    timeOf: (each) => each,
    toFinding: ({ op, ns }) => ({ kind: "oversold", opIds: [op.opId], atNs: clockReading(op, ns), sentence: "" }),
  });

const times = fc.array(fc.option(fc.nat(50), { nil: undefined }), { maxLength: 3 * MAX_FINDINGS_PER_KIND });

describe("firstFindings", () => {
  it("counts all items and keeps the earliest, in stable order, with items without a time last", () => {
    fc.assert(
      fc.property(times, (all) => {
        const found = readOperations(all.map(() => op())).map((each, index) => ({ op: each, ns: all[index] }));
        const sorted = [...found].sort((a, b) => (a.ns ?? 1_000) - (b.ns ?? 1_000));
        const { count, findings } = firstFindingsOf(found);
        assert.equal(count, all.length);
        const expected = sorted.slice(0, MAX_FINDINGS_PER_KIND).map((each) => each.op.opId);
        assert.deepEqual(
          findings.flatMap(({ opIds }) => opIds),
          expected,
        );
      }),
    );
  });

  it("sorts items of two hosts by clock reading", () => {
    const [late, early] = readOperations([op({ host: "a", invokedNs: 5_000 }), op({ host: "b", invokedNs: 2_000 })]);
    assert.ok(late && early);
    const { findings } = firstFindingsOf([
      { op: late, ns: 0 },
      { op: early, ns: 2_999 },
      { op: early, ns: 3_000 },
      { op: early, ns: 3_001 },
      { op: early, ns: undefined },
    ]);
    assert.deepEqual(
      findings.map(({ atNs }) => atNs),
      ["4999", "5000", "5000", "5001", null],
    );
  });
});
