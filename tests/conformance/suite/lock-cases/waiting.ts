import assert from "node:assert/strict";
import { isLockError } from "../../../../lib/locks/errors";
import { stayIn } from "../../../support/stay";
import { type LockCase, withoutExclusion } from "../case";

export const tryOnce: LockCase = {
  name: () => "answers `contended` at once to a caller that may not wait",
  notApplicable: withoutExclusion,
  async run(subject) {
    const request = subject.fresh();
    await using _holder = await stayIn(subject.lock, request);
    const outcome = await subject.tryNow(request);
    assert.ok(outcome.status === "contended", "two were in at once");
    assert.equal(outcome.attempts, 1);
  },
};

/** Long enough for a server on a busy disk to say that somebody else holds. */
const BOUND_MS = 1_000;

export const boundedWait: LockCase = {
  name: () => "answers `contended` when the wait is over, and leaves no waiter behind",
  notApplicable: withoutExclusion,
  async run(subject) {
    const request = subject.fresh();
    await using holder = await stayIn(subject.lock, request);
    const waiting = { ...request, waitTimeoutMs: BOUND_MS };
    const outcome = await subject.lock.runGuarded(waiting, async () => "entered");
    assert.ok(outcome.status === "contended", "two were in at once");
    // Less a server's rounding, where the server ends the wait.
    assert.ok(outcome.waitedMs >= 0.95 * BOUND_MS, `gave up after ${outcome.waitedMs} ms of ${BOUND_MS}`);
    await holder.leave();
    assert.equal((await subject.tryNow(request)).status, "completed", "a waiter that gave up is in the way");
  },
};

export const abortedWait: LockCase = {
  name: () => "leaves no waiter behind when the caller aborts while waiting",
  notApplicable: withoutExclusion,
  async run(subject) {
    const request = subject.fresh();
    const caller = new AbortController();
    await using holder = await stayIn(subject.lock, request);
    const waiting = subject.lock.runGuarded({ ...request, signal: caller.signal }, async () => "entered");
    const refused = assert.rejects(waiting, (error) => isLockError(error) && error.code === "aborted");
    // Long enough to be on the server, wherever a contender waits.
    await subject.clients.clock.sleep(50);
    caller.abort();
    await refused;
    await holder.leave();
    assert.equal((await subject.tryNow(request)).status, "completed", "the waiter that went away is in the way");
  },
};

export const nestedSection: LockCase = {
  name: () => "holds a nested section under the same hold",
  notApplicable: withoutExclusion,
  async run(subject) {
    const request = subject.fresh();
    const nested = await subject.lock.runGuarded(request, (grant) => grant.runNested(() => subject.tryNow(request)));
    assert.ok(nested.status === "completed" && nested.value.status === "contended", "two were in at once");
    assert.equal((await subject.tryNow(request)).status, "completed");
  },
};
