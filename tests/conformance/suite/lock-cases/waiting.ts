import assert from "node:assert/strict";
import { isLockError } from "../../../../lib/locks/errors";
import { holdLock } from "../../../support/hold-lock";
import { type LockCase, withoutExclusion } from "../case";

export const tryOnce: LockCase = {
  name: () => "returns `contended` at once if the wait timeout is 0",
  notApplicable: withoutExclusion,
  async run(tested) {
    const request = tested.fresh();
    await using _holder = await holdLock(tested.lock, request);
    const outcome = await tested.tryNow(request);
    assert.ok(outcome.status === "contended", "a second holder entered");
    assert.equal(outcome.attempts, 1);
  },
};

/** Long enough for a server with a busy disk to answer that the lock is held. */
const WAIT_MS = 1_000;

export const boundedWait: LockCase = {
  name: () => "returns `contended` when the wait times out, and leaves no waiter behind",
  notApplicable: withoutExclusion,
  async run(tested) {
    const request = tested.fresh();
    await using holder = await holdLock(tested.lock, request);
    const waiting = { ...request, waitTimeoutMs: WAIT_MS };
    const outcome = await tested.lock.runGuarded(waiting, async () => "entered");
    assert.ok(outcome.status === "contended", "a second holder entered");
    // The server may round the wait down.
    assert.ok(outcome.waitedMs >= 0.95 * WAIT_MS, `expected a wait of ${WAIT_MS} ms, found ${outcome.waitedMs} ms`);
    await holder.leave();
    assert.equal((await tested.tryNow(request)).status, "completed", "a waiter that timed out still blocks the lock");
  },
};

export const abortedWait: LockCase = {
  name: () => "leaves no waiter behind when the caller aborts while waiting",
  notApplicable: withoutExclusion,
  async run(tested) {
    const request = tested.fresh();
    const caller = new AbortController();
    await using holder = await holdLock(tested.lock, request);
    const waiting = tested.lock.runGuarded({ ...request, signal: caller.signal }, async () => "entered");
    const rejected = assert.rejects(waiting, (error) => isLockError(error) && error.code === "aborted");
    // Long enough for the waiter to reach the server.
    await tested.clients.clock.sleep(50);
    caller.abort();
    await rejected;
    await holder.leave();
    assert.equal((await tested.tryNow(request)).status, "completed", "a waiter that aborted still blocks the lock");
  },
};

export const nestedSection: LockCase = {
  name: () => "holds a nested section under the same hold",
  notApplicable: withoutExclusion,
  async run(tested) {
    const request = tested.fresh();
    const nested = await tested.lock.runGuarded(request, (grant) => grant.runNested(() => tested.tryNow(request)));
    assert.ok(nested.status === "completed" && nested.value.status === "contended", "a second holder entered");
    assert.equal((await tested.tryNow(request)).status, "completed");
  },
};
