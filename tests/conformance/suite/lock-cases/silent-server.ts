import assert from "node:assert/strict";
import { isLockError } from "../../../../lib/locks/errors";
import { holdLock } from "../../../support/hold-lock";
import { relayService } from "../../../support/relayed-servers";
import { type LockCase, withoutServer } from "../case";

export const silentServer: LockCase = {
  name: () => "ends a release and a wait although its server does not answer",
  notApplicable: withoutServer,
  async run(tested) {
    if (!tested.service) return;
    await using relayed = await relayService(tested.service);
    await using remote = await tested.open(relayed.servers);
    await using holder = await holdLock(remote.lock, tested.fresh());
    for (const relay of relayed.relays) relay.freeze();
    const waiting = remote.lock.runGuarded(tested.fresh({ waitTimeoutMs: 500 }), async () => assert.fail("granted"));
    const [released, waited] = await Promise.allSettled([holder.leave(), waiting]);
    // A hold in a transaction fails with its commit. Any other release gives up, and the server expires the hold.
    assert.ok(
      released.status === "fulfilled" || isLockError(released.reason),
      "the release did not reject with a typed LockError",
    );
    // If no connection can be opened, the caller waits for one until its wait ends.
    const isAnswered = waited.status === "fulfilled" ? waited.value.status === "contended" : isLockError(waited.reason);
    assert.ok(isAnswered, "the wait did not end with contention or a typed LockError");
    // Closing the clients must not wait for the silent server.
    for (const relay of relayed.relays) relay.heal();
  },
};
