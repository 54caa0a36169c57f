import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { createLock } from "../../../lib/locks/create-lock";
import type { LockRequest } from "../../../lib/locks/types";
import { openLockClients } from "../../support/lock-clients";

const fresh = (overrides: Partial<LockRequest> = {}): LockRequest => ({
  resource: `test:${randomUUID()}`,
  waitTimeoutMs: 10_000,
  ttlMs: 5_000,
  ...overrides,
});

/** Concurrent, so that renewals and releases of different holders mix. */
const RESOURCES = 100;
const RELEASES = 100;

describe("redis-lock", () => {
  it("stores the holder under the resource's name, like redis-py", async () => {
    await using clients = openLockClients();
    const request = fresh();
    await createLock("redis-lock", clients).runGuarded(request, async ({ holderId }) => {
      assert.equal(await clients.redis().get(request.resource), holderId);
      const leftMs = await clients.redis().pttl(request.resource);
      assert.ok(leftMs > 0 && leftMs <= 5_000, `${leftMs} ms`);
    });
    assert.equal(await clients.redis().exists(request.resource), 0);
  });

  it("never extends the lease after a release, for any hold time", async () => {
    await using clients = openLockClients();
    const lock = createLock("redis-lock", clients);
    /** The key of a lease that is extended after its release would be there again. */
    const releaseOften = async (request: LockRequest) => {
      for (let turn = 0; turn < RELEASES; turn++) {
        // The hold ends around the first renewal.
        await lock.runGuarded(request, () => clients.clock.sleep(9 + (turn % 3)));
        assert.equal(await clients.redis().exists(request.resource), 0);
      }
    };
    await Promise.all(Array.from({ length: RESOURCES }, () => releaseOften(fresh({ ttlMs: 30 }))));
  });
});
