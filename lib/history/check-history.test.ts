import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkHistory } from "./check-history";
import { MAX_FINDINGS_PER_KIND } from "./finding";
import { op, rowOf } from "./testing/make-history";
import type { HistoryOpLine } from "./types";

/** A history of a run without a lock: so many buyers read the same value and write the same. */
function storm(buyers: number, readValue = 17): readonly object[] {
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

const judge = (lines: readonly object[]) => checkHistory(lines.map((line) => `${JSON.stringify(line)}\n`));

describe("checkHistory", () => {
  it("opens on the first violation with the reads and writes that made it", async () => {
    const { verdict, findings } = await judge(storm(3));
    assert.equal(verdict, "unsafe");
    const [first] = findings;
    assert.match(first?.sentence ?? "", /read 17, .* read 17, both wrote 16/);
    const times = findings.flatMap(({ atNs }) => (atNs === null ? [] : [BigInt(atNs)]));
    assert.deepEqual(
      times,
      [...times].sort((a, b) => (a < b ? -1 : 1)),
    );
  });

  it("counts all violations and tells the first hundred of each kind", async () => {
    const { violations, findings } = await judge(storm(300));
    assert.equal(violations.lostUpdates, 299);
    assert.equal(violations.overlappingHolds, 299);
    for (const kind of ["lostUpdates", "overlappingHolds"]) {
      assert.equal(findings.filter((finding) => finding.kind === kind).length, MAX_FINDINGS_PER_KIND);
    }
  });

  it("lets a violation weigh more than a doubt, and tells both", async () => {
    const { verdict, findings } = await judge(storm(2).slice(0, -1));
    assert.equal(verdict, "unsafe");
    assert.ok(findings.some(({ kind }) => kind === "missingEnd"));
  });

  it("measures contention, fairness and hand-off beside the verdict", async () => {
    const { measures } = await judge(storm(3));
    assert.equal(measures.operations, 3);
    assert.equal(measures.peakInFlight, 3);
    assert.ok((measures.fairness.jain ?? 0) > 0.8);
    assert.equal(measures.handOff.count, 0, "holds that overlap hand nothing off");
  });
});
