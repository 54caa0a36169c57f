import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { StopOutcome } from "../node/node-stops";
import { stockStrategies, traitsOf } from "../stock/stock-strategies";
import type { FaultContext, Injection, StopReport } from "./fault";
import { killBetweenSetnxExpire } from "./kill-between-setnx-expire";
import { killHolder } from "./kill-holder";
import { storeNodeCrash } from "./store-node-crash";

const KILLED: StopOutcome = { status: "killed", atNs: "1000", instance: "1.a", holderId: "h-1", buyerId: "buyer-1" };

/** Injects a kill into a node that answers with these reports, one a call. An error: it does not answer. */
function inject(reports: readonly (StopReport | Error)[], isOver: boolean) {
  let calls = 0;
  const answer = async () => {
    const report = reports[Math.min(calls, reports.length - 1)];
    calls += 1;
    if (report instanceof Error || report === undefined) throw report;
    return report;
  };
  const injection = {
    node: { name: "node-1", armStop: async () => 0, stops: answer, disarmStops: answer },
    atMs: 0,
    closing: isOver ? AbortSignal.abort() : new AbortController().signal,
  };
  return killHolder.inject(injection as unknown as Injection);
}

const down = new Error("ECONNREFUSED");
const by = (instance: string, outcome: StopOutcome): StopReport => ({ instance, outcomes: [outcome] });
const runOf = (strategy: string, change: Partial<FaultContext> = {}): FaultContext => ({
  traits: traitsOf(strategy),
  ttlMs: 1_000,
  nodes: 3,
  fencing: true,
  ...change,
});

describe("the proof of a killed holder", () => {
  it("is the record of the process that ended, returned by another process of the node", async () => {
    const event = await inject([by("1.a", { status: "armed" }), down, by("2.b", KILLED)], false);
    assert.deepEqual([event.killedNode, event.fromNs], ["node-1", 1_000n]);
    assert.match(event.proof, /^node-1 was killed while buyer-1 \(h-1\) held the lock.*1\.a was killed.*2\.b answered/);
  });

  it("is missing if no holder was killed, if the kill failed, or if the same process still answers", async () => {
    await assert.rejects(
      inject([by("1.a", { status: "disarmed" })], true),
      /node-1 was not killed before the load ended/,
    );
    const failed = by("1.a", { status: "failed", reason: "no spool" });
    await assert.rejects(inject([failed], false), /node-1 could not be killed: no spool/);
    await assert.rejects(inject([by("1.a", KILLED)], false), /survived its SIGKILL/);
    await assert.rejects(inject([{ instance: "2.b", outcomes: [] }], false), /no record of the kill/);
  });
});

describe("the expected effect of a killed holder", () => {
  const effects = (strategy: string) =>
    [killHolder, storeNodeCrash].map((fault) => fault.expectationOf(runOf(strategy), 0).effect);

  it("is a blocked sale if the lock never expires, and none if it expires or ends with the process", () => {
    for (const id of ["redis-setnx", "redis-getset"]) assert.deepEqual(effects(id), ["blocked", "blocked"], id);
    for (const id of ["redis-lock", "redis-setnx-expire", "sql-row-lock", "sql-advisory", "zk-mutex", "etcd-lock"]) {
      assert.deepEqual(effects(id), ["safe", "safe"], id);
    }
    assert.equal(storeNodeCrash.expectationOf(runOf("sql-guarded"), 0).effect, "safe");
  });

  it("is a blocked sale for the one lock that sets its expiry in a second command", () => {
    const applicable = [...stockStrategies.keys()].filter(
      (id) => killBetweenSetnxExpire.whyNotApplicable(runOf(id)) === null,
    );
    assert.deepEqual(applicable, ["redis-setnx-expire"]);
    assert.equal(killBetweenSetnxExpire.expectationOf(runOf("redis-setnx-expire"), 0).effect, "blocked");
  });

  it("needs a holder and a second node", () => {
    assert.match(killHolder.whyNotApplicable(runOf("sql-guarded")) ?? "", /no holder to kill/);
    assert.match(killHolder.whyNotApplicable(runOf("none")) ?? "", /no lock/);
    assert.match(killHolder.whyNotApplicable(runOf("redis-lock", { nodes: 1 })) ?? "", /second store node/);
    assert.equal(storeNodeCrash.whyNotApplicable(runOf("sql-guarded")), null);
  });
});
