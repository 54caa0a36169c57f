import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { createLock } from "../../../lib/locks/create-lock";
import { isLockError, type LockError } from "../../../lib/locks/errors";
import { createRedlock } from "../../../lib/locks/redlock/redlock";
import type { LockRequest, LockStrategy } from "../../../lib/locks/types";
import { type LockClients, openLockClients } from "../../support/lock-clients";
import { type OwnRedis, startOwnRedis } from "../../support/own-redis";
import { waitUntil } from "../../support/wait-until";

/** Long enough that a busy machine delays at most two of three renewals. */
const LONGER_TTL_MS = 2_000;

describe("redlock on five servers", () => {
  let servers: OwnRedis[];
  let clients: LockClients;
  let lock: LockStrategy;
  let request: LockRequest;

  before(async () => {
    servers = await Promise.all(Array.from({ length: 5 }, startOwnRedis));
  });
  after(async () => {
    await lock[Symbol.asyncDispose]();
    await clients[Symbol.asyncDispose]();
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  });
  beforeEach(async () => {
    await clients?.[Symbol.asyncDispose]();
    clients = openLockClients({ redlock: servers.map(({ url }) => url).join(",") });
    lock = createLock("redlock", clients);
    request = { resource: `test:${randomUUID()}`, waitTimeoutMs: 5_000, ttlMs: 5_000 };
    await lock.runGuarded({ ...request, resource: `warm:${randomUUID()}` }, async () => "connected");
  });

  /** The stored value per server. */
  async function storedValues(): Promise<(string | null)[]> {
    return Promise.all(servers.map(({ probe }) => probe.get(request.resource)));
  }

  async function onServers(indexes: readonly number[], act: (server: OwnRedis) => void | Promise<void>) {
    await Promise.all(indexes.map((index) => servers[index] && act(servers[index])));
  }

  it("stores the lock on all five servers and leaves nothing after the release", async () => {
    await lock.runGuarded(request, async ({ holderId }) => {
      await waitUntil(async () => (await storedValues()).every((value) => value === holderId), { what: "five votes" });
    });
    await waitUntil(async () => (await storedValues()).every((value) => value === null), {
      what: "every server to release the lock",
    });
  });

  it("is contended while another client holds a majority, and releases its minority", async () => {
    await onServers([0, 1, 2], async ({ probe }) => void (await probe.set(request.resource, "another", "PX", 60_000)));
    const outcome = await lock.runGuarded({ ...request, waitTimeoutMs: 1_000 }, async () => "entered");
    assert.equal(outcome.status, "contended");
    const expected = "another,another,another,,";
    await waitUntil(async () => (await storedValues()).join() === expected, { what: expected });
  });

  it("renews on a majority while the section runs", async () => {
    const outcome = await lock.runGuarded({ ...request, ttlMs: LONGER_TTL_MS }, () =>
      clients.clock.sleep(1.25 * LONGER_TTL_MS),
    );
    assert.ok(outcome.status === "completed" && outcome.lease === "held");
  });

  it("loses its lease when a majority has lost it", async () => {
    const outcome = await lock.runGuarded({ ...request, ttlMs: 400 }, async ({ signal }) => {
      await onServers([1, 3, 4], async ({ probe }) => void (await probe.flushall()));
      await clients.clock.sleep(5_000, signal);
      return signal.aborted;
    });
    assert.ok(outcome.status === "completed" && outcome.value && outcome.lease === "lost");
    await waitUntil(async () => (await storedValues()).every((value) => value === null), {
      what: "every server to release the lock",
    });
  });

  it("keeps its lease when a minority has lost it", async () => {
    const outcome = await lock.runGuarded({ ...request, ttlMs: LONGER_TTL_MS }, async ({ signal }) => {
      await onServers([1, 3], async ({ probe }) => void (await probe.flushall()));
      await clients.clock.sleep(1.25 * LONGER_TTL_MS, signal);
      return signal.aborted;
    });
    assert.ok(outcome.status === "completed" && !outcome.value && outcome.lease === "held");
  });

  it("stays safe and live with two servers down", async () => {
    await onServers([0, 4], (server) => server.kill());
    try {
      const outcome = await lock.runGuarded(request, () =>
        lock.runGuarded({ ...request, waitTimeoutMs: 1_000 }, async () => "entered"),
      );
      assert.ok(outcome.status === "completed" && outcome.lease === "held");
      assert.equal(outcome.value.status, "contended");
      for (let turn = 0; turn < 20; turn++) {
        const next = await lock.runGuarded(request, async () => turn);
        assert.ok(
          next.status === "completed" && next.timings.attempts <= 2,
          "the acquire waited for servers that are down",
        );
      }
    } finally {
      await onServers([0, 4], (server) => server.start());
    }
  });

  it("is granted by three servers without waiting for two that do not answer", async () => {
    const lock = createRedlock(clients.redlock(), clients, { nodeLimitMs: 20_000 });
    await onServers([1, 2], (server) => server.pause());
    try {
      const outcome = await lock.runGuarded({ ...request, ttlMs: 60_000 }, async () => "entered");
      assert.ok(outcome.status === "completed" && outcome.timings.waitMs < 5_000);
    } finally {
      await onServers([1, 2], (server) => server.resume());
    }
    await waitUntil(async () => (await storedValues()).every((value) => value === null), {
      what: "the late votes to be released",
    });
  });

  it("fails with the vote of every server if three are down, and leaves nothing on the others", async () => {
    await onServers([0, 1, 2], (server) => server.kill());
    try {
      const failure: LockError = await lock
        .runGuarded(request, async () => assert.fail("granted by two of five"))
        .then(
          () => assert.fail("expected quorum_failed"),
          (error) => error,
        );
      assert.ok(isLockError(failure) && failure.code === "quorum_failed" && failure.isDefinite);
      assert.deepEqual(
        failure.votes?.map(({ server, vote }) => `${server} ${vote}`),
        [
          "redlock-1 unreachable",
          "redlock-2 unreachable",
          "redlock-3 unreachable",
          "redlock-4 granted",
          "redlock-5 granted",
        ],
      );
      const isLeft = async (index: number) => (await servers[index]?.probe.exists(request.resource)) === 1;
      await waitUntil(async () => !(await isLeft(3)) && !(await isLeft(4)), {
        what: "every server to release the lock",
      });
    } finally {
      await onServers([0, 1, 2], (server) => server.start());
    }
  });

  it("never grants a quorum that answers too late for the TTL, and releases it", async () => {
    const slow = createRedlock(clients.redlock(), clients, { nodeLimitMs: 10_000 });
    const late = { ...request, ttlMs: 300, waitTimeoutMs: 0 };
    await onServers([0, 1, 2], (server) => server.pause());
    const rejected = assert.rejects(
      slow.runGuarded(late, async () => assert.fail("granted")),
      (error) => isLockError(error) && error.code === "quorum_failed",
    );
    await rejected;
    await onServers([0, 1, 2], (server) => server.resume());
    await waitUntil(async () => (await storedValues()).every((value) => value === null), {
      what: "every server to release the lock",
    });
  });

  it("resolves a split vote within the wait limit", async () => {
    const callers = Array.from({ length: 20 }, () => lock.runGuarded(request, async () => "entered"));
    const outcomes = await Promise.all(callers);
    assert.ok(outcomes.every(({ status }) => status === "completed"));
  });

  it("rejects an even number of servers", () => {
    const isConfig = (error: unknown) => isLockError(error) && error.code === "config_invalid";
    assert.throws(() => createRedlock(clients.redlock().slice(1), clients), isConfig);
  });
});
