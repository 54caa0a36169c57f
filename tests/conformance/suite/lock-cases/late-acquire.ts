import assert from "node:assert/strict";
import { isLockError } from "../../../../lib/locks/errors";
import { relayService } from "../../../support/relayed-servers";
import { type LockCase, withoutServer } from "../case";

/** Much longer than the case: whatever the lock does not clean up itself stays. */
const TTL_MS = 60_000;

export const lateAcquire: LockCase = {
  name: () => "gives back what it is granted after it has stopped waiting for the answer",
  notApplicable: withoutServer,
  async run(subject) {
    if (!subject.service) return;
    await using relayed = await relayService(subject.service);
    await using far = await subject.open(relayed.servers);
    const request = subject.fresh({ ttlMs: TTL_MS });
    for (const relay of relayed.relays) relay.holdReplies();
    const hurried = { ...request, waitTimeoutMs: 200 };
    const call = far.lock.runGuarded(hurried, async () => assert.fail("granted without an answer"));
    await assert.rejects(call, isLockError);
    // Now the answers come: what was asked for has long been done.
    for (const relay of relayed.relays) relay.passReplies();
    const next = await subject.lock.runGuarded({ ...request, ttlMs: 5_000 }, async () => "entered");
    assert.equal(next.status, "completed", "the late grant is still there");
  },
};
