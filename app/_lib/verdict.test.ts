import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runDocument } from "../../lib/runs/testing/run-fixture";
import { answersOf, evidenceOf, toneOf, verdictText } from "./verdict";

describe("verdict text", () => {
  it("gives the run's status precedence over its verdict", () => {
    assert.equal(toneOf({ status: "running", verdict: "inconclusive" }), "running");
    assert.equal(toneOf({ status: "failed", verdict: "safe" }), "failed");
    assert.equal(toneOf({ status: "finished", verdict: "unsafe" }), "unsafe");
  });

  it("does not repeat the verdict word", () => {
    const words = verdictText(
      runDocument({ verdict: "unsafe", sentences: ["Unsafe. 131 units ordered from a stock of 100.", "More."] }),
    );
    assert.deepEqual(words, { lead: "131 units ordered from a stock of 100.", rest: ["More."] });
  });

  it("has a sentence for a document without sentences", () => {
    for (const verdict of ["safe", "unsafe", "inconclusive"] as const) {
      assert.match(verdictText(runDocument({ verdict, sentences: [] })).lead, /^100 units ordered from a stock of 100/);
    }
    assert.match(verdictText(runDocument({ status: "failed", sentences: [] })).lead, /did not finish/);
  });

  it("writes a subtraction with a minus sign and non-breaking spaces", () => {
    const { lead } = verdictText(runDocument({ sentences: ["The stock says: 100 - 0 = 100 units ordered."] }));
    assert.equal(lead, "The stock says: 100\u00a0\u2212\u00a00\u00a0=\u00a0100\u00a0units ordered.");
  });
});

describe("facts that support the verdict", () => {
  it("name missing contention and purchases that were not sent", () => {
    const contention = { ...runDocument().contention, certified: false, peakInFlight: 1, droppedIterations: 3 };
    const evidence = evidenceOf(runDocument({ contention })).join(" · ");
    assert.match(evidence, /^up to 1 purchase in flight at once · 100 units ordered/);
    assert.match(evidence, /3 purchases the load generator did not send/);
  });

  it("list outcomes above 0, and always sold and sold out", () => {
    assert.deepEqual(answersOf(runDocument().counts), ["100 sold", "400 sold out"]);
    const counts = { requests: 3, sold: 0, soldOut: 0, contended: 1, rejected: 0, errors: 1, unknown: 1 };
    assert.deepEqual(answersOf(counts), [
      "0 sold",
      "0 sold out",
      "1 timed out waiting",
      "1 error",
      "1 with unknown outcome",
    ]);
  });
});
