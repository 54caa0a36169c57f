import assert from "node:assert/strict";
import { createReadStream, readdirSync } from "node:fs";
import { describe, it } from "node:test";
import { checkParsedHistory, findViolations } from "./check-history";
import { VIOLATION_KINDS } from "./finding";
import type { History } from "./history";
import { firstServedInterleaving, interleavingOf, MAX_ACTORS } from "./interleaving";
import type { Interleaving } from "./merge-steps";
import { parseHistory } from "./parse";
import { history, type OpFields, op, rowOf } from "./testing/make-history";

const CASES = new URL("../../tests/history/cases/", import.meta.url);

/** "+30 node-1 write stock = 16", with a "!" in front of a marked step. */
function lines({ steps, actors }: Interleaving): string[] {
  const nodeOf = new Map(actors.map(({ opId, node }) => [opId, node]));
  const visible = steps.filter(({ isDetail }) => !isDetail);
  return visible.map(
    (step) => `${step.isMarked ? "!" : ""}+${step.afterNs} ${nodeOf.get(step.opId ?? "")} ${step.text}`,
  );
}

function firstOf(subject: History, kind: string): Interleaving {
  const finding = findViolations(subject).findings.find((each) => each.kind === kind);
  assert.ok(finding, `expected a finding of kind ${kind}, found none`);
  return interleavingOf(subject, finding);
}

const seller = (node: string, fields: OpFields) => op({ node, writeAccepted: true, answeredNs: 900, ...fields });

describe("interleavingOf", () => {
  it("shows a lost update as two reads and two writes, and marks those of the later writer", () => {
    const first = seller("node-1", { readNs: 110, readValue: 17, writeNs: 163, writtenValue: 16, committedNs: 168 });
    const second = seller("node-2", { readNs: 121, readValue: 17, writeNs: 175, writtenValue: 16, committedNs: 181 });
    const shown = firstOf(
      history({ ops: [second, first], end: { final: 99, orders: [rowOf(first, "1"), rowOf(second, "2")] } }),
      "lostUpdates",
    );
    assert.deepEqual(lines(shown), [
      "+0 node-1 read stock = 17",
      "!+11 node-2 read stock = 17",
      "+53 node-1 write stock = 16",
      "+58 node-1 COMMIT confirmed, order 1",
      "!+65 node-2 write stock = 16",
      "!+71 node-2 COMMIT confirmed, order 2",
    ]);
    assert.deepEqual(shown.remarks, ["2 units sold, but the stock fell by only 1."]);
    assert.equal(shown.fromNs, "110");
  });

  it("marks the later writer even if it read first", () => {
    const slow = seller("node-1", { readNs: 10, readValue: 5, writeNs: 90, writtenValue: 4, committedNs: 95 });
    const quick = seller("node-2", { readNs: 20, readValue: 5, writeNs: 30, writtenValue: 4, committedNs: 40 });
    const end = { final: 99, orders: [rowOf(quick), rowOf(slow)] };
    const marked = lines(firstOf(history({ ops: [slow, quick], end }), "lostUpdates")).filter((line) =>
      line.startsWith("!"),
    );
    assert.deepEqual(
      marked.map((line) => line.replace(/order-of-op-\d+/, "1")),
      ["!+0 node-1 read stock = 5", "!+80 node-1 write stock = 4", "!+85 node-1 COMMIT confirmed, order 1"],
    );
  });

  it("shows both grants and releases of overlapping holds", () => {
    const holder = seller("node-1", { waitNs: 1, grantedNs: 10, releasedNs: 60 });
    const intruder = seller("node-2", { waitNs: 2, grantedNs: 40, releasedNs: 80 });
    assert.deepEqual(lines(firstOf(history({ ops: [holder, intruder] }), "overlappingHolds")), [
      "+0 node-1 acquire lock",
      "!+30 node-2 acquire lock",
      "+50 node-1 release lock",
      "+70 node-2 release lock",
    ]);
  });

  it("shows requests and answers if the answers are wrong", () => {
    const early = op({ node: "node-1", invokedNs: 0, answeredNs: 10, outcome: "sold_out", buyerId: "ann" });
    const late = op({ node: "node-2", invokedNs: 20, answeredNs: 30, buyerId: "bob" });
    assert.deepEqual(lines(firstOf(history({ ops: [early, late], run: { initial: 1 } }), "ticketOrder")), [
      "+0 node-1 ann requests 1 unit",
      '+10 node-1 answer "sold out" to ann',
      "!+20 node-2 bob requests 1 unit",
      '!+30 node-2 answer "sold" to bob',
    ]);
  });

  it("shows the overwritten purchase beside the first oversold one", () => {
    const first = seller("node-1", { readNs: 10, readValue: 1, writeNs: 20, writtenValue: 0, committedNs: 25 });
    const second = seller("node-2", { readNs: 12, readValue: 1, writeNs: 30, writtenValue: 0, committedNs: 35 });
    const shown = firstOf(history({ ops: [first, second], run: { initial: 1 } }), "oversold");
    assert.equal(lines(shown).length, 6);
    assert.deepEqual(shown.remarks, ["Order number 2 of a sale with a stock of 1 unit."]);
  });

  it("limits the number of purchases and says how many are not shown", () => {
    const ops = Array.from({ length: 7 }, () => op({ buyerId: "greedy", answeredNs: 5 }));
    const shown = firstOf(history({ ops, run: { limitPerBuyer: 1 } }), "duplicateClaims");
    assert.equal(shown.actors.length, MAX_ACTORS);
    assert.equal(shown.remarks.at(-1), "3 more purchases are not shown.");
  });

  it("reports if the steps come from several hosts", () => {
    const fields = { readNs: 1, readValue: 4, writeNs: 2, writtenValue: 3 };
    const ops = [seller("a", { ...fields, host: "a" }), seller("b", { ...fields, host: "b" })];
    assert.equal(firstOf(history({ ops }), "lostUpdates").isOneClock, false);
    assert.equal(
      firstOf(history({ ops: ops.map((line) => ({ ...line, host: "h" })) }), "lostUpdates").isOneClock,
      true,
    );
  });

  it("has steps or a remark for every finding of every hand-made history", async () => {
    const seen = new Set<string>();
    for (const file of readdirSync(CASES)) {
      const parsed = await parseHistory(createReadStream(new URL(file, CASES)));
      for (const finding of checkParsedHistory(parsed).findings) {
        const shown = interleavingOf(parsed.history, finding);
        const times = shown.steps.map(({ afterNs }) => afterNs);
        assert.deepEqual(
          times,
          [...times].sort((a, b) => a - b),
          file,
        );
        if (!(VIOLATION_KINDS as readonly string[]).includes(finding.kind)) continue;
        if (shown.actors.length > 0) assert.ok(lines(shown).length > 0, `${file}: ${finding.sentence}`);
        if (shown.actors.length > 0) seen.add(finding.kind);
        if (finding.kind === "strayRows") assert.ok(shown.remarks.length > 0);
        const hasMark = shown.steps.some(({ isMarked, isDetail }) => isMarked && !isDetail);
        assert.ok(
          hasMark || shown.actors.length === 0,
          `${file}: expected a marked step, found none: ${finding.sentence}`,
        );
      }
    }
    assert.deepEqual(
      VIOLATION_KINDS.filter((kind) => !seen.has(kind)),
      ["strayRows"],
    );
  });
});

describe("firstServedInterleaving", () => {
  it("shows the first purchases served, with no step marked", () => {
    const served = (at: number, node: string, value: number) =>
      seller(node, { grantedNs: at, readNs: at + 1, readValue: value, releasedNs: at + 4 });
    const shown = firstServedInterleaving(
      history({ ops: [served(50, "c", 8), served(10, "a", 10), served(30, "b", 9)] }),
    );
    assert.deepEqual(lines(shown), [
      "+0 a acquire lock",
      "+1 a read stock = 10",
      "+4 a release lock",
      "+20 b acquire lock",
      "+21 b read stock = 9",
      "+24 b release lock",
    ]);
  });

  it("shows an atomic write as one step, and sorts by the value left if there is no grant", () => {
    const write = (at: number, node: string, left: number) =>
      seller(node, { readNs: at, readValue: left + 1, writeNs: at, writtenValue: left, committedNs: 60 - at });
    const shown = firstServedInterleaving(history({ ops: [write(10, "a", 8), write(20, "b", 9), write(1, "c", 7)] }));
    assert.deepEqual(lines(shown).slice(0, 2), ["+0 a write stock 9 → 8", "+10 b write stock 10 → 9"]);
  });
});
