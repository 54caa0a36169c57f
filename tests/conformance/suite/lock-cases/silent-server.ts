import assert from "node:assert/strict";
import { isLockError } from "../../../../lib/locks/errors";
import { relayService } from "../../../support/relayed-servers";
import { stayIn } from "../../../support/stay";
import { type LockCase, withoutServer } from "../case";

export const silentServer: LockCase = {
  name: () => "ends both a release and a wait while its server swallows everything",
  notApplicable: withoutServer,
  async run(subject) {
    if (!subject.service) return;
    await using relayed = await relayService(subject.service);
    await using far = await subject.open(relayed.servers);
    await using holder = await stayIn(far.lock, subject.fresh());
    for (const relay of relayed.relays) relay.freeze();
    const waiting = far.lock.runGuarded(subject.fresh({ waitTimeoutMs: 500 }), async () => assert.fail("granted"));
    const [released, waited] = await Promise.allSettled([holder.leave(), waiting]);
    // A hold in a transaction fails with its commit; any other one ends, and its server will find out by itself.
    assert.ok(released.status === "fulfilled" || isLockError(released.reason), "the release's error has no type");
    // Where no connection is to be had, the wait for one takes up the whole wait.
    const isAnswered = waited.status === "fulfilled" ? waited.value.status === "contended" : isLockError(waited.reason);
    assert.ok(isAnswered, "the wait's error has no type");
    // Whoever closes the clients is not to wait for the server either.
    for (const relay of relayed.relays) relay.heal();
  },
};
