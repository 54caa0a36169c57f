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
    const request = fresh({ ttlMs: 30 });
    for (let turn = 0; turn < 100; turn++) {
      // The hold ends around the first renewal.
      await lock.runGuarded(request, () => clients.clock.sleep(9 + (turn % 3)));
      assert.equal(await clients.redis().exists(request.resource), 0);
    }
  });
});
