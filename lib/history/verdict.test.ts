import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkParsedHistory } from "./check-history";
import { history, op } from "./testing/make-history";
import { contentionDoubts, isContended, verdictOf } from "./verdict";

describe("the verdict", () => {
  it("is unsafe if there is a violation, even with doubts", () => {
    assert.equal(verdictOf({ violations: { oversold: 1 }, doubts: [] }), "unsafe");
    assert.equal(verdictOf({ violations: { oversold: 0, staleWrites: 2 }, doubts: ["a doubt"] }), "unsafe");
  });

  it("is inconclusive if there are only doubts", () => {
    assert.equal(verdictOf({ violations: { oversold: 0 }, doubts: ["a doubt"] }), "inconclusive");
  });

  it("is safe without violations and doubts", () => {
    assert.equal(verdictOf({ violations: { oversold: 0 }, doubts: [] }), "safe");
  });
});

describe("the contention rule", () => {
  it("doubts a run unless a purchase met another one's hold or write", () => {
    assert.deepEqual(
      [0, 1, 80].map((sections) => isContended({ contendedSections: sections })),
      [false, true, true],
    );
    assert.deepEqual(contentionDoubts({ operations: 2, peakInFlight: 2, contendedSections: 1 }), []);
    const [doubt] = contentionDoubts({ operations: 2, peakInFlight: 1, contendedSections: 0 });
    assert.equal(doubt?.kind, "noContention");
    assert.equal(
      doubt?.sentence,
      "None of the 2 purchases is known to have waited, read or written while another held the lock or wrote, so the run did not test the strategy.",
    );
  });

  it("doubts a run whose only overlap is that of two errors", async () => {
    const error = { outcome: "error", answeredNs: 5 } as const;
    const sale = (from: number, readValue: number) =>
      op({
        ...{
          invokedNs: from,
          grantedNs: from,
          readNs: from + 1,
          readValue,
          writeNs: from + 2,
          writtenValue: readValue - 1,
        },
        ...{ writeAccepted: true, committedNs: from + 3, releasedNs: from + 4, answeredNs: from + 5 },
      });
    const ops = [op(error), op(error), sale(10, 5), sale(20, 4)];
    const subject = history({ ops, run: { initial: 5 } });
    const report = checkParsedHistory({ run: null, end: null, history: subject, doubts: [], lines: 6 });
    assert.equal(report.verdict, "inconclusive");
    assert.match(
      report.findings[0]?.sentence ?? "",
      /although up to 2 were in flight at the same time, so the run did/,
    );
  });

  it("names a run without purchases", () => {
    assert.match(
      contentionDoubts({ operations: 0, peakInFlight: 0, contendedSections: 0 })[0]?.sentence ?? "",
      /No purchase was recorded/,
    );
  });
});
