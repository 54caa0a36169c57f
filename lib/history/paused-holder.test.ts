import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkParsedHistory } from "./check-history";
import { type Finding, isViolation } from "./finding";
import { interleavingOf } from "./interleaving";
import type { Interleaving } from "./merge-steps";
import { toFault } from "./operation";
import { history, op } from "./testing/make-history";
import { pausedSale, SOLD_MEANWHILE } from "./testing/paused-sale";
import { SPAN_MARKS, timelineOf } from "./timeline";

const reportOf = (subject: ReturnType<typeof pausedSale>) =>
  checkParsedHistory({ run: null, end: null, history: subject, doubts: [], lines: 0 });
const only = (findings: readonly Finding[], kind: string): Finding => {
  const [finding, ...more] = findings.filter((each) => each.kind === kind);
  assert.equal(more.length, 0, `expected one finding of kind ${kind}, found ${more.length + 1}`);
  return finding ?? assert.fail(`expected a finding of kind ${kind}, found none`);
};
/** "!+12500 node-1 write stock = 99", in milliseconds; "*" for a step that belongs to no purchase. */
function lines({ steps, actors }: Interleaving): string[] {
  const nodeOf = new Map(actors.map(({ opId, node }) => [opId, node]));
  return steps
    .filter(({ isDetail }) => !isDetail)
    .map(({ opId, afterNs, text, isMarked }) => {
      return `${isMarked ? "!" : ""}+${afterNs / 1e6} ${nodeOf.get(opId ?? "") ?? "*"} ${text}`;
    });
}

describe("a holder that is paused beyond its lease, and whose write is accepted", () => {
  const subject = pausedSale({ fenced: false });
  const { verdict, violations, findings } = reportOf(subject);

  it("made one stale write, although it never noticed that its lease had ended", () => {
    assert.equal(verdict, "unsafe");
    assert.equal(violations.staleWrites, 1);
    assert.equal(
      only(findings, "staleWrites").sentence,
      "The resource accepted a write of 99 by node-1 7.51 s after the lease of node-1 had expired.",
    );
  });

  it("undid several sales by one write: one finding that lists them", () => {
    const finding = only(findings, "lostUpdates");
    assert.equal(violations.lostUpdates, SOLD_MEANWHILE);
    assert.equal(finding.covers, SOLD_MEANWHILE);
    assert.equal(
      finding.sentence,
      "node-1 read 100, then 5 other sales changed the stock, then node-1 wrote 99 and undid them.",
    );
    assert.deepEqual(
      finding.parts?.map(({ opIds }) => opIds),
      [["sale-2"], ["sale-3"], ["sale-4"], ["sale-5"], ["sale-6"]],
    );
    assert.equal(finding.parts?.[0]?.sentence, "The sale of node-2 to buyer-2 was undone: it read 100 and wrote 99.");
  });

  it("overlapped several holders: one finding that lists them", () => {
    const finding = only(findings, "overlappingHolds");
    assert.equal(violations.overlappingHolds, SOLD_MEANWHILE);
    assert.equal(finding.covers, SOLD_MEANWHILE);
    assert.match(finding.sentence, /^node-2 acquired the lock while node-1 held it: .*\. So did 4 others\.$/);
    assert.equal(finding.parts?.length, SOLD_MEANWHILE);
  });

  it("is marked on the timeline with the sales that it undid, and not the sales after it", () => {
    const { timeline, indexOf } = timelineOf(subject);
    const isMarked = (opId: string) => {
      return ((timeline.spans.marks[indexOf.get(opId) ?? -1] ?? 0) & SPAN_MARKS.lostUpdate) !== 0;
    };
    assert.deepEqual(["paused", "sale-2", "sale-6", "sale-7", "sale-9"].map(isMarked), [
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  it("is explained from the fault to the commit of its write", () => {
    assert.deepEqual(lines(interleavingOf(subject, only(findings, "staleWrites"))), [
      "+0 node-1 acquire lock",
      "+2 node-1 read stock = 100",
      "+10 node-1 paused (pause-holder)",
      "!+5000 node-1 lease expires",
      "+5090 node-2 acquire lock",
      "+5092 node-2 read stock = 100",
      "+5110 node-2 write stock = 99",
      "+5112 node-2 COMMIT confirmed, order o-2",
      "+5113 node-2 release lock",
      "+12510 node-1 wakes after 12.5 s",
      "!+12511 node-1 write stock = 99: ACCEPTED",
      "!+12512 node-1 COMMIT confirmed, order late",
      "+12513 node-1 release lock",
    ]);
  });
});

describe("a holder that is paused beyond its lease, and whose write fencing stops", () => {
  const subject = pausedSale({ fenced: true });
  const { verdict, findings } = reportOf(subject);

  it("leaves the run safe, with a remark that names both tokens", () => {
    assert.equal(verdict, "safe", findings.map(({ sentence }) => sentence).join("\n"));
    assert.deepEqual(findings.filter(isViolation), []);
    const { sentence, tokens, opIds } = only(findings, "refusedStaleWrite");
    assert.equal(
      sentence,
      "The resource refused the write of 99 by node-1 with fencing token 1, because node-2 had used token 6.",
    );
    assert.deepEqual(tokens, { stale: "1", newest: "6" });
    assert.deepEqual(opIds, ["paused", "sale-6"]);
    assert.equal(only(findings, "fencedOverlap").covers, SOLD_MEANWHILE);
  });

  it("made no refused stale write if tokens are not checked, or if no newer token was used before", () => {
    const early = op({ fencingToken: 1, grantedNs: 1, writeNs: 2, writeAccepted: false, outcome: "error" });
    const next = op({ fencingToken: 2, grantedNs: 3, readNs: 4, readValue: 5 });
    assert.deepEqual(
      reportOf(history({ ops: [early, next] })).findings.filter(({ kind }) => kind === "refusedStaleWrite"),
      [],
    );
    const unchecked = history({ ops: [next, { ...early, writeNs: "9" }], run: { fencing: false } });
    assert.deepEqual(
      reportOf(unchecked).findings.filter(({ kind }) => kind === "refusedStaleWrite"),
      [],
    );
  });
});

describe("the steps of a fault", () => {
  const sale = (from: number, node: string) =>
    op({ node, grantedNs: from, readNs: from + 1, readValue: 5, releasedNs: from + 9, answeredNs: from + 10 });

  it("belong to no purchase if the fault stopped none of those shown", () => {
    const flush = toFault({ faultId: "memcached-flush", fromNs: "4", toNs: "5" });
    const subject = history({ ops: [sale(0, "node-1"), sale(6, "node-2")], faults: [flush] });
    const shown = lines(interleavingOf(subject, only(reportOf(subject).findings, "overlappingHolds")));
    assert.deepEqual(
      shown.filter((line) => line.includes("*")),
      ["+0.000004 * memcached-flush begins", "+0.000005 * memcached-flush ends"],
    );
  });

  it("are left out if the fault was before or after the purchases shown", () => {
    const early = toFault({ faultId: "memcached-flush", fromNs: "40", toNs: "50" });
    const subject = history({ ops: [sale(0, "node-1"), sale(6, "node-2")], faults: [early] });
    const { steps } = interleavingOf(subject, only(reportOf(subject).findings, "overlappingHolds"));
    assert.ok(steps.every(({ opId }) => opId !== null));
  });
});

describe("commits in an interleaving", () => {
  const writer = {
    readNs: 1,
    readValue: 100,
    writeNs: 5,
    writtenValue: 99,
    writeAccepted: true,
    grantedNs: 1,
  } as const;
  const overlap = (fields: object) => {
    const reader = op({ node: "b", grantedNs: 2, readNs: 6, readValue: 100, releasedNs: 20, outcome: "error" });
    const subject = history({ ops: [op({ node: "a", ...writer, releasedNs: 15, ...fields }), reader] });
    return interleavingOf(subject, only(reportOf(subject).findings, "overlappingHolds"));
  };

  it("explain a value that is read between a write and its confirmation", () => {
    const shown = overlap({ committedNs: 9 });
    assert.match(lines(shown).join("\n"), /a write stock = 99\n.* b read stock = 100\n.* a COMMIT confirmed/);
    assert.deepEqual(shown.remarks, ["A commit takes effect between the write and its confirmation."]);
  });

  it("are said to be unknown if the history has no commit time", () => {
    assert.match(overlap({}).remarks.join("\n"), /^The history has no commit time for the write of a for buyer-\d+\.$/);
  });
});
