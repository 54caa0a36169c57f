import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findViolations } from "../check-history";
import { history, op, rowOf, sentencesOf } from "../testing/make-history";
import type { HistoryOpLine } from "../types";
import { checkAcknowledgedRows } from "./acknowledged-rows";
import { checkFailoverLosses } from "./failover-losses";

const FAILOVER = { faultId: "pg-failover", fromNs: 100n, toNs: 200n, promotedReplica: true as const };
/** A lock holder's purchase that read `readValue`. */
const sale = (invokedNs: number, readValue: number) =>
  op({
    invokedNs,
    waitNs: invokedNs,
    grantedNs: invokedNs + 1,
    readNs: invokedNs + 2,
    readValue,
    writeNs: invokedNs + 3,
    writtenValue: readValue - 1,
    writeAccepted: true,
    committedNs: invokedNs + 4,
    releasedNs: invokedNs + 5,
    answeredNs: invokedNs + 6,
    orderId: `o${invokedNs}`,
    buyerId: `buyer-${invokedNs}`,
  });
const kept = sale(0, 10);
const lost = sale(110, 9);
const later = sale(300, 9);
const rows = (...lines: readonly HistoryOpLine[]) => lines.map((line) => rowOf(line, line.orderId));
const sold = { ops: [kept, lost, later], run: { initial: 10 }, end: { final: 8, orders: rows(kept, later) } };
const found = (changes: object) =>
  Object.entries(findViolations(history({ ...sold, faults: [FAILOVER], ...changes })).violations).filter(
    ([, count]) => count > 0,
  );

describe("checkFailoverLosses", () => {
  it("finds an order that was acknowledged before the promotion and is gone, and blames nothing else for it", () => {
    assert.deepEqual(found({}), [["failoverLosses", 1]]);
    assert.deepEqual(sentencesOf(checkFailoverLosses(history({ ...sold, faults: [FAILOVER] }))), [
      "node-1 acknowledged order o110 to buyer-110, and then a failover lost it: the promoted replica did not have it.",
    ]);
  });

  it("leaves a missing order to checkAcknowledgedRows if no failover explains it", () => {
    const { promotedReplica: _, ...otherFault } = FAILOVER;
    for (const faults of [[], [otherFault], [{ ...FAILOVER, toNs: 105n }]]) {
      const missing = history({ ...sold, faults });
      assert.equal(checkFailoverLosses(missing).count, 0);
      assert.equal(checkAcknowledgedRows(missing).count, 1);
    }
  });

  it("finds nothing if every acknowledged order survived and an unknown one did not", () => {
    const unknown = op({ invokedNs: 110, outcome: "unknown" });
    assert.deepEqual(found({ ops: [kept, unknown, later] }), []);
  });

  it("finds the lost order although a later one has its number", () => {
    const reused = { ...rowOf(later, lost.orderId), orderId: lost.orderId ?? "" };
    const renamed = { ...later, orderId: lost.orderId ?? "" };
    assert.deepEqual(found({ ops: [kept, lost, renamed], end: { final: 8, orders: [...rows(kept), reused] } }), [
      ["failoverLosses", 1],
    ]);
  });

  it("still finds the other violations of a run with a failover", () => {
    const second = { ...rowOf(kept, "o-second") };
    const twice = { final: 7, orders: [...rows(kept, later), second] };
    assert.deepEqual(found({ end: twice }), [
      ["acknowledgedRows", 1],
      ["failoverLosses", 1],
    ]);
  });

  it("finds nothing without the rows", () => {
    assert.equal(checkFailoverLosses(history({ ...sold, faults: [FAILOVER], end: null })).count, 0);
  });
});
