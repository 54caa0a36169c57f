import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runDocument } from "../../lib/runs/testing/run-fixture";
import { answersOf, evidenceOf, toneOf, verdictText } from "./verdict";

describe("the verdict on the page", () => {
  it("takes its tone from the status first", () => {
    assert.equal(toneOf({ status: "running", verdict: "inconclusive" }), "running");
    assert.equal(toneOf({ status: "failed", verdict: "safe" }), "failed");
    assert.equal(toneOf({ status: "finished", verdict: "unsafe" }), "unsafe");
  });

  it("does not say its own word twice", () => {
    const words = verdictText(
      runDocument({ verdict: "unsafe", sentences: ["Unsafe. 131 buyers were told.", "More."] }),
    );
    assert.deepEqual(words, { lead: "131 buyers were told.", rest: ["More."] });
  });

  it("says after the first sentence when harm was first done, where the document knows", () => {
    const words = verdictText(
      runDocument({ verdict: "unsafe", sentences: ["Selected.", "More."], firstViolationMs: 410 }),
    );
    assert.deepEqual(words, { lead: "Selected. First seen 0.41 s into the sale.", rest: ["More."] });
  });

  it("has words of its own for a document without sentences", () => {
    for (const verdict of ["safe", "unsafe", "inconclusive"] as const) {
      assert.match(verdictText(runDocument({ verdict, sentences: [] })).lead, /^100 orders for 100 units/);
    }
    assert.match(verdictText(runDocument({ status: "failed", sentences: [] })).lead, /did not come to an end/);
  });

  it("sets a subtraction with a minus sign and keeps it on one line", () => {
    const { lead } = verdictText(runDocument({ sentences: ["The stock says: 100 - 0 = 100 orders."] }));
    assert.equal(lead, "The stock says: 100\u00a0\u2212\u00a00\u00a0=\u00a0100\u00a0orders.");
  });
});

describe("the proof", () => {
  it("says when contention was never certified and when purchases were never sent", () => {
    const contention = { ...runDocument().contention, certified: false, droppedIterations: 3 };
    const evidence = evidenceOf(runDocument({ contention })).join(" · ");
    assert.match(evidence, /never two purchases in flight at once/);
    assert.match(evidence, /3 purchases the load engine failed to send/);
  });

  it("names only the answers there were, sold and sold out always", () => {
    assert.deepEqual(answersOf(runDocument().counts), ["100 sold", "400 sold out"]);
    const counts = { requests: 3, sold: 0, soldOut: 0, contended: 1, rejected: 0, errors: 1, unknown: 1 };
    assert.deepEqual(answersOf(counts), [
      "0 sold",
      "0 sold out",
      "1 gave up waiting",
      "1 error",
      "1 of unknown outcome",
    ]);
  });
});
