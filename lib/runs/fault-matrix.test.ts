import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseFault } from "../faults/fault-text";
import type { RunDocument } from "./document";
import { matrixCell, matrixCells, matrixRequest, matrixRuns, replayCommand, resultOf } from "./fault-matrix";
import { detailText, measuredText, signalText } from "./fault-matrix-text";
import { runRequestSchema } from "./run-request";
import { runDocument } from "./testing/run-fixture";

const PAUSE = { strategy: "redis-lock", fault: "pause-holder", repeat: 1 } as const;
const FAULT = { faultId: "pause-holder", fromNs: "0", toNs: "1", proof: "node-1 was stopped." };
const recovered = { nextGrantMs: 1_040, unserved: 0, watchedMs: 2_000, lastGrantMs: 1_900, lossSignalMs: 1_500 };
const result = (change: Partial<RunDocument>, run: Parameters<typeof resultOf>[0] = PAUSE) =>
  resultOf(run, runDocument({ faults: [FAULT], recovery: [recovered], missedFaults: [], ...change }), 4_000.4);
const { violations } = runDocument();

describe("the runs of the fault matrix", () => {
  it("are the control of each strategy and its applicable cells, one repeat after the other", () => {
    const strategies = ["none", "redis-lock", "sql-guarded"];
    const runs = matrixRuns({ strategies, faults: ["pause-holder", "latency"], repeats: 2 });
    const names = runs.map(({ strategy, fault, repeat }) => `${strategy} ${fault} ${repeat}`);
    const once = (repeat: number) => [
      `none null ${repeat}`,
      `redis-lock null ${repeat}`,
      `redis-lock pause-holder ${repeat}`,
      `redis-lock latency ${repeat}`,
      `sql-guarded null ${repeat}`,
      `sql-guarded latency ${repeat}`,
    ];
    assert.deepEqual(names, [...once(1), ...once(2)]);
  });

  it("have requests that the lab accepts, and commands that repeat them", () => {
    const applicable = matrixCells([]).filter(({ expected }) => expected !== "not applicable");
    assert.ok(applicable.length > 250, `found ${applicable.length} cells`);
    for (const { strategy, fault } of applicable) {
      const run = { strategy, fault, repeat: 2 };
      const request = runRequestSchema.parse(matrixRequest(run));
      const command = replayCommand(run);
      assert.match(command, new RegExp(` --stock ${request.stock} .* --seed 2`));
      const [, text] = / --fault (\S+)$/.exec(command) ?? [];
      assert.deepEqual(text === undefined ? [] : [parseFault(text)], request.faults ?? [], command);
    }
  });
});

describe("the result of a run of the fault matrix", () => {
  it("is unsafe with the kinds of its violations, even if waiters were blocked", () => {
    const found = result({ verdict: "unsafe", violations: { ...violations, overlappingHolds: 3, lostUpdates: 1 } });
    assert.deepEqual([found.measured, found.violations], ["unsafe", { lostUpdates: 1, overlappingHolds: 3 }]);
    assert.deepEqual([found.evidence, found.elapsedMs, found.lossSignalMs], [FAULT.proof, 4_000, 1_500]);
    assert.equal(found.blockedMs, null);
  });

  it("is safe if the verdict is safe and the lock was granted again", () => {
    const found = result({ verdict: "safe" });
    assert.deepEqual([found.measured, found.nextGrantMs], ["safe", 1_040]);
  });

  it("is blocked if purchases waited for more than 3 s after the last grant, also after grants under the fault", () => {
    const blocked = (change: object) => result({ verdict: "safe", recovery: [{ ...recovered, ...change }] });
    const never = blocked({ nextGrantMs: null, lastGrantMs: null, unserved: 4, watchedMs: 4_800 });
    assert.deepEqual([never.measured, never.blockedMs, never.unserved], ["blocked", 4_800, 4]);
    assert.equal(blocked({ unserved: 4, lastGrantMs: 400, watchedMs: 3_500 }).blockedMs, 3_100);
    assert.equal(blocked({ unserved: 4, lastGrantMs: 600, watchedMs: 3_500 }).measured, "safe");
    assert.equal(blocked({ unserved: 0, lastGrantMs: 400, watchedMs: 9_000 }).measured, "safe");
    const counter = result({ verdict: "inconclusive", stock: { initial: 9, final: 4, orders: 5, counter: null } });
    assert.deepEqual([counter.measured, counter.blockedMs, counter.unsold], ["blocked", null, 4]);
  });

  it("is inconclusive with the reason if the fault was missed or the run did not finish", () => {
    const missed = [{ faultId: "pause-holder", reason: "no buyer" }];
    const sentences = ["The fault was not seen."];
    const found = result({ verdict: "unsafe", missedFaults: missed, faults: [], sentences });
    assert.deepEqual([found.measured, found.evidence], ["inconclusive", "The fault was not seen."]);
    assert.equal(result({ status: "failed", verdict: "safe" }).measured, "inconclusive");
  });
});

describe("a cell of the fault matrix", () => {
  const unsafe = (overlappingHolds: number) =>
    result({ verdict: "unsafe", violations: { ...violations, overlappingHolds, ticketOrder: 9, lostUpdates: 1 } });

  it("differs if one of its repeats shows something else than the traits predict", () => {
    assert.equal(matrixCell("redis-lock", "pause-holder", [unsafe(1), unsafe(2)]).differs, false);
    assert.equal(matrixCell("redis-lock", "pause-holder", [unsafe(1), result({ verdict: "safe" })]).differs, true);
    assert.equal(matrixCell("redis-lock", "pause-holder", []).differs, false, "not measured");
    const control = result({ verdict: "unsafe" }, { ...PAUSE, fault: null });
    assert.equal(matrixCell("redis-lock", null, [control]).differs, true);
  });

  it("says in a few words what its runs show", () => {
    const cell = matrixCell("redis-lock", "pause-holder", [unsafe(1), unsafe(4)]);
    assert.equal(measuredText(cell), "unsafe 2 of 2");
    assert.equal(detailText(cell), "1 to 4 overlapping holds, 1 lost update");
    assert.equal(signalText(cell), "The holder detected its loss 1.50 s after the next grant.");
    assert.equal(detailText({ results: [result({ verdict: "safe" })] }), "next grant 1.04 s");
    assert.equal(
      detailText({ results: [result({ verdict: "safe", refusedStaleWrites: 2 })] }),
      "2 late writes refused",
    );
    const stuck = { nextGrantMs: null, lastGrantMs: null, unserved: 4, watchedMs: 4_800, lossSignalMs: null };
    assert.equal(detailText({ results: [result({ verdict: "safe", recovery: [stuck] })] }), "no grant for 4.80 s");
  });
});
