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
  it("that lasts is reported within the wait limit", async () => {
    server.isDown = true;
    const call = runner().runGuarded({ ...request, waitTimeoutMs: 10_000 }, async () => "entered");
    await assert.rejects(clock.settle(call), code("backend_unavailable"));
    assert.ok(clock.nowMs() < 5_000, `${clock.nowMs()} ms`);
    assert.equal(clock.pendingTimers, 0);
  });

  it("is reported at once if the wait timeout is 0", async () => {
    server.isDown = true;
    const call = runner().runGuarded({ ...request, waitTimeoutMs: 0 }, async () => "entered");
    await assert.rejects(clock.settle(call), code("backend_unavailable"));
    assert.ok(clock.nowMs() < 10);
  });

  it("that ends soon is retried until the server is back", async () => {
    server.isDown = true;
    const waiting = runner().runGuarded({ ...request, waitTimeoutMs: 10_000 }, async () => "entered");
    await clock.advance(800);
    server.isDown = false;
    assert.equal((await clock.settle(waiting)).status, "completed");
  });

  it("in which replies are lost is reported, and each try is cleaned up", async () => {
    server.losesReplyTo = (kind) => kind === "try";
    const call = runner().runGuarded({ ...request, waitTimeoutMs: 10_000 }, async () => "entered");
    await assert.rejects(clock.settle(call), code("backend_unavailable"));
    assert.ok(clock.nowMs() < 8_000, `${clock.nowMs()} ms`);
    assert.equal(server.callsOf("release").length, server.callsOf("try").length);
    assert.equal(server.holderOf(resource), null);
  });

  it("is reported at the end of the wait although the last try timed out and the server had answered earlier", async () => {
    const lock = runner();
    const { free, outcome } = occupy(lock, { ttlMs: 10_000 });
    await clock.advance(5);
    const waiting = lock.runGuarded({ ...request, waitTimeoutMs: 1_000 }, async () => "entered");
    await clock.advance(100);
    server.isDown = true;
    await clock.advance(500);
    // From now on, replies are lost instead.
    server.isDown = false;
    server.losesReplyTo = (kind) => kind === "try";
    await assert.rejects(clock.settle(waiting), code("backend_unavailable"));
    server.losesReplyTo = () => false;
    free();
    await clock.settle(outcome);
  });
});
