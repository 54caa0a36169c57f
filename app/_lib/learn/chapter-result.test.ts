import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runDocument } from "@/lib/runs/testing/run-fixture";
import { chapterResult } from "./chapter-result";
import { CHAPTERS } from "./chapters/all-chapters";

const step = CHAPTERS[4]?.steps[0] ?? assert.fail("expected a fifth chapter");
const noExpiry = CHAPTERS[2]?.steps[0] ?? assert.fail("expected a third chapter");
const example = runDocument({ strategy: "redis-lock", status: "finished" });
const unsafe = {
  ...example,
  verdict: "unsafe" as const,
  violations: { ...example.violations, overlappingHolds: 2, lostUpdates: 1 },
};

describe("the result of a step", () => {
  it("says whether the prediction is right, and replies to it", () => {
    const right = chapterResult(step, "unsafe", unsafe);
    assert.equal(right.measured, "unsafe");
    assert.equal(right.detail, "2 overlapping holds, 1 lost update");
    assert.equal(right.judgement, "You predicted unsafe, and the run is unsafe.");
    assert.equal(right.reply, step.answers.unsafe.reply);
    const wrong = chapterResult(step, "blocked", unsafe);
    assert.equal(wrong.judgement, "You predicted blocked, but the run is unsafe.");
    assert.equal(wrong.reply, step.answers.blocked.reply);
  });

  it("explains a shared run to a reader without a prediction", () => {
    const { judgement, reply } = chapterResult(step, null, unsafe);
    assert.deepEqual([judgement, reply], [null, step.answers.unsafe.reply]);
  });

  it("says why a blocked run has another verdict", () => {
    const waited = { watchedMs: 6_000, lastGrantMs: 100, nextGrantMs: null, lossSignalMs: null, unserved: 9 };
    const recovery = [waited] as unknown as NonNullable<typeof unsafe.recovery>;
    const blocked = chapterResult(noExpiry, "blocked", { ...example, verdict: "safe", recovery });
    assert.equal(blocked.measured, "blocked");
    assert.match(blocked.remark ?? "", /verdict below is only about wrong sales/);
    assert.equal(chapterResult(step, "unsafe", unsafe).remark, null);
  });

  it("does not explain a run that shows something else, or nothing", () => {
    const other = chapterResult(step, "safe", { ...example, verdict: "safe" });
    assert.deepEqual([other.judgement, other.reply], ["You predicted safe, and the run is safe.", null]);
    assert.match(other.surprise ?? "", /outcome that is unsafe, and this run is safe/);
    for (const document of [
      { ...example, verdict: "inconclusive" as const },
      { ...unsafe, status: "failed" as const },
      { ...unsafe, missedFaults: [{ id: "pause-holder", reason: "none" }] as unknown as typeof unsafe.missedFaults },
    ]) {
      const nothing = chapterResult(step, "unsafe", document);
      assert.deepEqual([nothing.measured, nothing.judgement, nothing.reply], ["inconclusive", null, null]);
      assert.match(nothing.surprise ?? "", /proves nothing/);
    }
  });
});
