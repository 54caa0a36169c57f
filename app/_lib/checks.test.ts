import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { VIOLATION_KINDS } from "../../lib/history/finding";
import { runDocument } from "../../lib/runs/testing/run-fixture";
import {
  CHECK_COUNT,
  type CheckEvidence,
  type CheckRow,
  checkGroups,
  checkSummary,
  checksOf,
  violationSummary,
} from "./checks";
import type { Tone } from "./verdict";

const { violations } = runDocument();
const none = Object.fromEntries(VIOLATION_KINDS.map((kind) => [kind, 0])) as typeof violations;
const nothing: CheckEvidence = {
  violations: none,
  notApplicable: {},
  findings: [],
  measures: { handOff: { count: 3, p50Ms: 1, p99Ms: 2, maxMs: 4 } },
};

describe("short list of checks", () => {
  const idsOf = (found: Partial<typeof violations>) =>
    checksOf({ violations: { ...none, ...found } }).map(({ id }) => id);

  it("has the seven main checks and one line for the others", () => {
    const ids = idsOf({});
    assert.deepEqual([ids.length, ids.at(-1)], [8, "further"]);
    assert.equal(checksOf({ violations: none }).at(-1)?.count, 0);
  });

  it("names a further check that found violations", () => {
    const list = checksOf({ violations: { ...none, strayRows: 3 } });
    assert.equal(list.find(({ id }) => id === "strayRows")?.count, 3);
    assert.match(list.at(-1)?.label ?? "", /^7 more/);
  });

  it("gives no count for a check that an older document lacks", () => {
    const { fencingOrder: _, ...older } = none;
    assert.equal(checksOf({ violations: older }).at(-1)?.count, null);
  });
});

describe("summary of the checks", () => {
  it("says that there is no violation only of a safe run", () => {
    const summaryOf = (tone: Tone, found = 0) => violationSummary({ found, of: 15, tone });
    assert.equal(summaryOf("safe"), "no violations");
    assert.equal(summaryOf("inconclusive"), "no violations in what was recorded");
    assert.equal(summaryOf("failed"), "not judged: the run failed");
    assert.equal(summaryOf("failed", 2), "2 of 15 found violations");
  });

  it("counts no measurement and no sum of other checks as a violation", () => {
    const document = runDocument({
      verdict: "unsafe",
      violations: { ...none, lostUpdates: 31 },
      stock: { initial: 100, final: 0, orders: 131 },
    });
    const findings = [{ name: "unservedWaiters-1", kind: "unservedWaiters", atUs: 5 }];
    assert.equal(checkSummary(checkGroups(document, { ...nothing, findings }), "unsafe"), "1 of 15 found violations");
  });
});

describe("full list of checks", () => {
  const rowsOf = (document: Parameters<typeof runDocument>[0], evidence: CheckEvidence | null = nothing) =>
    new Map(
      checkGroups(runDocument({ violations: none, ...document }), evidence)
        .flatMap(({ rows }) => rows)
        .map((row): [string, CheckRow] => [row.id, row]),
    );

  it("lists each kind once, plus conservation and three checks about waiting", () => {
    const rows = rowsOf({});
    for (const kind of VIOLATION_KINDS) assert.ok(rows.has(kind), kind);
    assert.equal(rows.size, CHECK_COUNT + 4);
    assert.equal(CHECK_COUNT, VIOLATION_KINDS.length);
  });

  it("links a violation to its first finding and gives its time", () => {
    const findings = [
      { name: "oversold-1", kind: "oversold", atUs: 1 },
      { name: "staleWrites-1", kind: "staleWrites", atUs: 2_000 },
      { name: "staleWrites-2", kind: "staleWrites", atUs: 3_000 },
    ];
    const row = rowsOf({ violations: { ...none, staleWrites: 2 } }, { ...nothing, findings }).get("staleWrites");
    assert.deepEqual([row?.result, row?.isAlarm, row?.first], ["2", true, { name: "staleWrites-1", atUs: 2_000 }]);
  });

  it("says why a check does not apply, but always shows a violation", () => {
    const evidence = { ...nothing, notApplicable: { fencingOrder: "no fencing token recorded" } };
    const row = rowsOf({}, evidence).get("fencingOrder");
    assert.deepEqual([row?.result, row?.note], [null, "no fencing token recorded"]);
    const found = rowsOf({ violations: { ...none, fencingOrder: 1 } }, evidence).get("fencingOrder");
    assert.deepEqual([found?.result, found?.isAlarm], ["1", true]);
  });

  it("takes missing counts of an older document from its history, or says that the run is older", () => {
    const { ticketOrder: _, ...older } = none;
    const evidence = { ...nothing, violations: { ...none, ticketOrder: 2 } };
    assert.equal(rowsOf({ violations: older }, evidence).get("ticketOrder")?.result, "2");
    assert.match(rowsOf({ violations: older }, null).get("ticketOrder")?.note ?? "", /older than the check/);
    assert.match(rowsOf({}).get("handOff")?.note ?? "", /p99 2/);
    assert.match(rowsOf({}, null).get("handOff")?.note ?? "", /older than the measurement/);
  });

  it("shows lost or surplus units as an inequality", () => {
    const row = rowsOf({ stock: { initial: 100, final: 0, orders: 131 } }).get("conservation");
    assert.deepEqual([row?.result, row?.isAlarm], ["100 − 0 ≠ 131", false], "its violations count as lost updates");
  });

  it("gives no result for a failed run, except for violations that it recorded", () => {
    const rows = rowsOf({ status: "failed", violations: { ...none, staleWrites: 1 } });
    const lost = rows.get("lostUpdates");
    assert.deepEqual([lost?.result, lost?.absence, lost?.isAlarm], [null, "not judged", false]);
    assert.deepEqual([rows.get("staleWrites")?.result, rows.get("staleWrites")?.isAlarm], ["1", true]);
  });

  it("counts waiters that were served late after a fault", () => {
    const findings = [{ name: "unservedWaiters-1", kind: "unservedWaiters", atUs: 5 }];
    const row = rowsOf({}, { ...nothing, findings }).get("liveness");
    assert.deepEqual([row?.result, row?.isAlarm, row?.first?.name], ["1 late", true, "unservedWaiters-1"]);
    assert.equal(rowsOf({}).get("liveness")?.result, "all");
  });
});
