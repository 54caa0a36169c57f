import assert from "node:assert/strict";
import { isLockError } from "../../../../lib/locks/errors";
import { relayService } from "../../../support/relayed-servers";
import { type LockCase, withoutServer } from "../case";

/** Much longer than the case, so a lock that is not cleaned up stays. */
const TTL_MS = 60_000;

export const lateAcquire: LockCase = {
  name: () => "releases a lock that is granted after the caller stopped waiting",
  notApplicable: withoutServer,
  async run(tested) {
    if (!tested.service) return;
    await using relayed = await relayService(tested.service);
    await using remote = await tested.open(relayed.servers);
    const request = tested.fresh({ ttlMs: TTL_MS });
    for (const relay of relayed.relays) relay.holdReplies();
    const impatient = { ...request, waitTimeoutMs: 200 };
    const call = remote.lock.runGuarded(impatient, async () =>
      assert.fail("granted without an answer from the server"),
    );
    await assert.rejects(call, isLockError);
    // Deliver the delayed replies: the server executed the requests long ago.
    for (const relay of relayed.relays) relay.passReplies();
    const next = await tested.lock.runGuarded({ ...request, ttlMs: 5_000 }, async () => "entered");
    assert.equal(next.status, "completed", "the late grant was not released");
  },
};
