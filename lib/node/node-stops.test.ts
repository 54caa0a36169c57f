import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nowNs } from "../services/monotonic";
import { type ArmedStop, NodeStops, type StopOutcome } from "./node-stops";

const START_NS = 1_000_000_000n;
const RUN = { runId: "run-1", resource: "product:1" };
const pauseOf = (durationMs: number, change: Partial<ArmedStop> = {}): ArmedStop => ({
  point: "before-write",
  atMs: 0,
  durationMs,
  ...change,
});
const KILL: ArmedStop = { point: "before-write", atMs: 0, durationMs: null };

function makeHolder(runId: string | null, change: { buyerId?: string; arrivedNs?: bigint } = {}) {
  const { buyerId = "buyer-1", arrivedNs = START_NS } = change;
  return { runId, buyerId, trace: { opId: "op-1", invokedNs: arrivedNs, holderId: "h-1" } };
}

/** Records what happened to the process instead of stopping it. */
function makeStops() {
  const events: string[] = [];
  const kept: (readonly StopOutcome[])[] = [];
  const stops = new NodeStops({
    pause: (durationMs) => void events.push(`pause ${durationMs}`),
    kill: () => void events.push("kill"),
  });
  stops.keep = (runId, outcomes) => {
    events.push(`keep ${runId}`);
    kept.push(outcomes);
  };
  return { events, kept, stops };
}

describe("NodeStops", () => {
  it("pauses the first holder of the run that is due, once, and reports which holder it was", () => {
    const { events, stops } = makeStops();
    assert.equal(stops.arm(RUN, pauseOf(250)), 0);
    stops.beforeWrite(makeHolder(null));
    stops.beforeWrite(makeHolder("run-2"));
    stops.beforeExpiry("product:1");
    assert.deepEqual(events, []);
    stops.beforeWrite(makeHolder("run-1", { buyerId: "buyer-7" }));
    stops.beforeWrite(makeHolder("run-1", { buyerId: "buyer-8" }));
    assert.deepEqual(events, ["pause 250"]);
    const [outcome] = stops.disarm("run-1");
    assert.equal(outcome?.status, "paused");
    assert.deepEqual(outcome.status === "paused" && [outcome.buyerId, outcome.holderId], ["buyer-7", "h-1"]);
  });

  it("counts atMs from the arrival of the first purchase that reached the point", () => {
    const { events, stops } = makeStops();
    stops.arm(RUN, pauseOf(250, { atMs: 60_000 }));
    stops.beforeWrite(makeHolder("run-1", { arrivedNs: nowNs() }));
    assert.deepEqual(events, []);
    stops.arm({ ...RUN, runId: "run-2" }, pauseOf(300, { atMs: 60_000 }));
    stops.beforeWrite(makeHolder("run-2", { arrivedNs: nowNs() - 61_000_000_000n }));
    assert.deepEqual(events, ["pause 300"]);
  });

  it("does not stop a holder after the stop was disarmed, and reports it as disarmed", () => {
    const { events, stops } = makeStops();
    stops.arm(RUN, pauseOf(250));
    assert.deepEqual(stops.disarm("run-1"), [{ status: "disarmed" }]);
    stops.beforeWrite(makeHolder("run-1"));
    assert.deepEqual([events, stops.disarm("run-1")], [[], [{ status: "disarmed" }]]);
    stops.forget("run-1");
    assert.deepEqual(stops.disarm("run-1"), []);
  });

  it("lets the purchase continue if the node cannot be stopped, and keeps the reason", () => {
    const fail = () => {
      throw new Error("no shell");
    };
    const stops = new NodeStops({ pause: fail, kill: fail });
    stops.arm(RUN, pauseOf(250));
    stops.beforeWrite(makeHolder("run-1"));
    assert.deepEqual(stops.disarm("run-1"), [{ status: "failed", reason: "no shell" }]);
  });

  it("keeps the outcome of a kill before the process ends, and the next instance returns it at the same index", () => {
    const { events, kept, stops } = makeStops();
    stops.arm(RUN, pauseOf(250, { atMs: 60_000 }));
    stops.arm(RUN, KILL);
    stops.beforeWrite(makeHolder("run-1", { buyerId: "buyer-7", arrivedNs: nowNs() }));
    assert.deepEqual(events, ["keep run-1", "kill"]);
    const next = makeStops().stops;
    next.restore(RUN, kept[0] ?? []);
    const [pause, kill] = next.outcomes("run-1");
    assert.deepEqual([pause?.status, kill?.status], ["disarmed", "killed"]);
    assert.equal(kill?.status === "killed" && kill.buyerId, "buyer-7");
    next.beforeWrite(makeHolder("run-1"));
    assert.equal(next.outcomes("run-1")[0]?.status, "disarmed");
  });

  it("does not kill a process whose operations would be lost", () => {
    const events: string[] = [];
    const stops = new NodeStops({ pause: () => {}, kill: () => void events.push("kill") });
    stops.arm(RUN, KILL);
    stops.beforeWrite(makeHolder("run-1"));
    assert.deepEqual([events, stops.outcomes("run-1")[0]?.status], [[], "failed"]);
  });

  it("stops a holder between SETNX and PEXPIRE of the run's resource only", () => {
    const { events, stops } = makeStops();
    stops.arm(RUN, { ...KILL, point: "before-expiry" });
    stops.beforeWrite(makeHolder("run-1"));
    stops.beforeExpiry("product:2");
    assert.deepEqual(events, []);
    stops.beforeExpiry("product:1");
    assert.deepEqual(events, ["keep run-1", "kill"]);
  });

  it("delays the work of one holder only, and renews no lease of its resource until that is over", async () => {
    const { stops } = makeStops();
    assert.equal(stops.renewsLease("product:1"), true);
    stops.arm(RUN, { point: "in-work", atMs: 0, durationMs: 20, renewsLease: false });
    assert.equal(stops.inWork(makeHolder("run-2")), null);
    assert.deepEqual([stops.renewsLease("product:1"), stops.renewsLease("product:2")], [false, true]);
    const delay = stops.inWork(makeHolder("run-1", { buyerId: "buyer-7" }));
    assert.equal(stops.inWork(makeHolder("run-1", { buyerId: "buyer-8" })), null, "expected one delay");
    assert.equal(stops.renewsLease("product:1"), false);
    const [pending] = stops.outcomes("run-1");
    assert.equal(pending?.status === "delaying" && pending.buyerId, "buyer-7");
    const next = makeStops().stops;
    next.restore(RUN, stops.outcomes("run-1"));
    assert.deepEqual(next.outcomes("run-1"), [{ status: "disarmed" }], "expected the next process to delay no holder");
    await delay;
    const [outcome] = stops.disarm("run-1");
    assert.equal(outcome?.status === "delayed" && outcome.buyerId, "buyer-7");
    assert.equal(stops.renewsLease("product:1"), true);
  });

  it("delays the work of one holder and renews its lease, unless the stop says otherwise", async () => {
    const { stops } = makeStops();
    stops.arm(RUN, { point: "in-work", atMs: 0, durationMs: 20 });
    assert.equal(stops.renewsLease("product:1"), true);
    const delay = stops.inWork(makeHolder("run-1"));
    assert.equal(stops.renewsLease("product:1"), true);
    await delay;
    assert.equal(stops.disarm("run-1")[0]?.status, "delayed");
  });

  it("stops at a moment that no purchase decides, unless it is disarmed first", async (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const { events, stops } = makeStops();
    stops.arm(RUN, { point: "any-time", atMs: 100, durationMs: null });
    stops.arm({ ...RUN, runId: "run-2" }, { point: "any-time", atMs: 100, durationMs: null });
    stops.forget("run-2");
    context.mock.timers.tick(99);
    assert.deepEqual(events, []);
    context.mock.timers.tick(1);
    assert.deepEqual(events, ["keep run-1", "kill"]);
  });
});
