import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { createLocalMutex } from "./baseline/local-mutex";
import { LockError } from "./errors";
import { code, type RunnerBench, request, resource, setUpBench } from "./testing/runner-bench";
import { seededRandom } from "./testing/seeded-random";
import type { Grant, LockStrategy } from "./types";

let clock: RunnerBench["clock"];
let server: RunnerBench["server"];
let incidents: RunnerBench["incidents"];
let runner: RunnerBench["runner"];

beforeEach(() => {
  ({ clock, server, incidents, runner } = setUpBench());
});

const TTL_MS = request.ttlMs;
const failed = (mayBeInFlight: boolean) =>
  new LockError({
    code: "outcome_unknown",
    strategyId: "test",
    resource,
    message: "no reply",
    isDefinite: false,
    mayBeInFlight,
  });
const inFlight = async () => {
  throw failed(true);
};

/** Runs a section that ends with an operation in flight. @returns the time at which the call failed */
async function failInFlight(lock: LockStrategy, section: (grant: Grant) => Promise<unknown> = inFlight) {
  await assert.rejects(clock.settle(lock.runGuarded(request, section)), code("outcome_unknown"));
  return clock.nowMs();
}

/** @returns the time at which the next caller is granted */
async function nextGrantMs(lock: LockStrategy): Promise<number> {
  let grantedMs = -1;
  const section = async () => {
    grantedMs = clock.nowMs();
  };
  const { status } = await clock.settle(lock.runGuarded({ ...request, waitTimeoutMs: 5_000 }, section));
  assert.equal(status, "completed");
  return grantedMs;
}

describe("a hold whose section left an operation in flight", () => {
  it("fails the call at once, and stays until the lease has run out, without a renewal", async () => {
    const lock = runner();
    const failedMs = await failInFlight(lock);
    const holder = server.holderOf(resource);
    assert.ok(holder !== null, "expected the hold to outlive the call");
    await clock.advance(TTL_MS * 0.9);
    assert.equal(server.holderOf(resource), holder);
    const grantedMs = await nextGrantMs(lock);
    const leastMs = failedMs + TTL_MS * 0.9;
    assert.ok(grantedMs >= leastMs, `expected a grant after ${leastMs} ms, found ${grantedMs} ms`);
    assert.deepEqual(server.callsOf("renew"), []);
    assert.deepEqual(
      incidents.map(({ kind }) => kind),
      ["hold_kept"],
    );
  });

  it("stays for the TTL under a lock without a lease", async () => {
    const mutex = createLocalMutex({ clock, random: seededRandom(1) });
    const failedMs = await failInFlight(mutex);
    assert.equal(await nextGrantMs(mutex), failedMs + TTL_MS);
  });

  it("stays if the outer section handled the error of a nested section", async () => {
    const lock = runner();
    const section = async (grant: Grant) => void (await Promise.allSettled([grant.runNested(inFlight)]));
    const outcome = await clock.settle(lock.runGuarded(request, section));
    assert.equal(outcome.status, "completed");
    assert.notEqual(server.holderOf(resource), null);
  });

  it("is released before a disposal ends, and leaves no timer", async () => {
    const lock = runner();
    await failInFlight(lock);
    const sentBefore = server.callsOf("release").length;
    await clock.settle(lock[Symbol.asyncDispose]());
    assert.equal(server.callsOf("release").length, sentBefore + 1);
    assert.equal(clock.pendingTimers, 0);
  });

  it("is never released if the release does not compare owners, because it could delete the key of the next holder", async () => {
    const lock = runner({}, server.backend({ leaseKind: "unwatched" }));
    await failInFlight(lock);
    await clock.settle(lock[Symbol.asyncDispose]());
    assert.deepEqual(server.callsOf("release"), []);
  });

  it("is released at once if no operation is in flight", async () => {
    const lock = runner();
    await failInFlight(lock, async () => {
      throw failed(false);
    });
    assert.equal(server.holderOf(resource), null);
  });
});
