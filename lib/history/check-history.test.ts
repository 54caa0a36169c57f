import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkHistory } from "./check-history";
import { MAX_FINDINGS_PER_KIND } from "./finding";
import { op, rowOf } from "./testing/make-history";
import type { HistoryOpLine } from "./types";

/** A run without a lock: all buyers read the same value and write the same value. */
function unlockedRun(buyers: number, readValue = 17): readonly object[] {
  const ops = Array.from({ length: buyers }, (_, index) =>
    op({
      waitNs: 0,
      grantedNs: 1 + index,
      readNs: buyers + index,
      readValue,
      writeNs: 3 * buyers,
      writtenValue: readValue - 1,
      writeAccepted: true,
      committedNs: 4 * buyers + index,
      releasedNs: 5 * buyers + index,
      answeredNs: 6 * buyers + index,
    }),
  );
  return [
    { type: "run", runId: "r", strategy: "none", resource: "p", initial: 17, limitPerBuyer: null, hosts: 1 },
    ...ops,
    { type: "end", final: 16, orders: ops.map((line: HistoryOpLine) => rowOf(line)), dropped: 0 },
  ];
}

const check = (lines: readonly object[]) => checkHistory(lines.map((line) => `${JSON.stringify(line)}\n`));

describe("checkHistory", () => {
  it("lists the violations by time, the first one with its reads and writes", async () => {
    const { verdict, findings } = await check(unlockedRun(3));
    assert.equal(verdict, "unsafe");
    const [first] = findings;
    assert.match(first?.sentence ?? "", /read 17, .* read 17, both wrote 16/);
    const times = findings.flatMap(({ atNs }) => (atNs === null ? [] : [BigInt(atNs)]));
    assert.deepEqual(
      times,
      [...times].sort((a, b) => (a < b ? -1 : 1)),
    );
  });

  it("counts all violations and reports the first 100 of each kind", async () => {
    const { violations, findings } = await check(unlockedRun(300));
    assert.equal(violations.lostUpdates, 299);
    assert.equal(violations.overlappingHolds, 299);
    for (const kind of ["lostUpdates", "overlappingHolds"]) {
      assert.equal(findings.filter((finding) => finding.kind === kind).length, MAX_FINDINGS_PER_KIND);
    }
  });

  it("is unsafe if a violation is found besides a doubt, and reports both", async () => {
    const { verdict, findings } = await check(unlockedRun(2).slice(0, -1));
    assert.equal(verdict, "unsafe");
    assert.ok(findings.some(({ kind }) => kind === "missingEnd"));
  });

  it("measures contention, fairness and hand-off", async () => {
    const { measures } = await check(unlockedRun(3));
    assert.equal(measures.operations, 3);
    assert.equal(measures.peakInFlight, 3);
    assert.ok((measures.fairness.jain ?? 0) > 0.8);
    assert.equal(measures.handOff.count, 0, "expected no hand-off between overlapping holds");
  });
});
