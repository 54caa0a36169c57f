import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { code, occupy, type RunnerBench, request, resource, setUpBench } from "./testing/runner-bench";

let clock: RunnerBench["clock"];
let server: RunnerBench["server"];
let runner: RunnerBench["runner"];

beforeEach(() => {
  ({ clock, server, runner } = setUpBench());
});

describe("an outage", () => {
  it("that lasts is told within the wait limit", async () => {
    server.isDown = true;
    const call = runner().runGuarded({ ...request, waitTimeoutMs: 10_000 }, async () => "entered");
    await assert.rejects(clock.settle(call), code("backend_unavailable"));
    assert.ok(clock.nowMs() < 5_000, `${clock.nowMs()} ms`);
    assert.equal(clock.pendingTimers, 0);
  });

  it("is told at once to a caller that may not wait", async () => {
    server.isDown = true;
    const call = runner().runGuarded({ ...request, waitTimeoutMs: 0 }, async () => "entered");
    await assert.rejects(clock.settle(call), code("backend_unavailable"));
    assert.ok(clock.nowMs() < 10);
  });

  it("that passes soon is waited out", async () => {
    server.isDown = true;
    const waiting = runner().runGuarded({ ...request, waitTimeoutMs: 10_000 }, async () => "entered");
    await clock.advance(800);
    server.isDown = false;
    assert.equal((await clock.settle(waiting)).status, "completed");
  });

  it("in which requests vanish is told too, and each try is cleaned up", async () => {
    server.losesReplyTo = (kind) => kind === "try";
    const call = runner().runGuarded({ ...request, waitTimeoutMs: 10_000 }, async () => "entered");
    await assert.rejects(clock.settle(call), code("backend_unavailable"));
    assert.ok(clock.nowMs() < 8_000, `${clock.nowMs()} ms`);
    assert.equal(server.callsOf("release").length, server.callsOf("try").length);
    assert.equal(server.holderOf(resource), null);
  });

  it("is told at the end of the wait although the last try was cut short, and the server had answered before", async () => {
    const lock = runner();
    const { free, outcome } = occupy(lock, { ttlMs: 10_000 });
    await clock.advance(5);
    const waiting = lock.runGuarded({ ...request, waitTimeoutMs: 1_000 }, async () => "entered");
    await clock.advance(100);
    server.isDown = true;
    await clock.advance(500);
    // From now on requests vanish instead.
    server.isDown = false;
    server.losesReplyTo = (kind) => kind === "try";
    await assert.rejects(clock.settle(waiting), code("backend_unavailable"));
    server.losesReplyTo = () => false;
    free();
    await clock.settle(outcome);
  });
});
