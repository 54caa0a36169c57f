import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, beforeEach, describe, it } from "node:test";
import { createLock } from "../../../lib/locks/create-lock";
import { isLockError } from "../../../lib/locks/errors";
import { createEtcdLock } from "../../../lib/locks/etcd/etcd-lock";
import { EtcdError } from "../../../lib/locks/etcd/etcd-port";
import type { LockRequest, LockStrategy } from "../../../lib/locks/types";
import { type EtcdProbe, probeEtcd } from "../../support/etcd-probe";
import { withWatch } from "../../support/etcd-with-watch";
import { type LockClients, lockServers, openLockClients } from "../../support/lock-clients";
import { startOwnEtcd } from "../../support/own-etcd";
import { useRelayedLock } from "../../support/relayed-lock";
import type { TcpRelay } from "../../support/tcp-relay";
import { waitUntil } from "../../support/wait-until";

const isUnavailable = (error: unknown) => isLockError(error) && error.code === "backend_unavailable";
const fresh = (overrides: Partial<LockRequest> = {}): LockRequest => ({
  resource: `test:${randomUUID()}`,
  waitTimeoutMs: 15_000,
  ttlMs: 5_000,
  ...overrides,
});

describe("etcd-lock behind a connection that breaks", () => {
  const opened = useRelayedLock("etcd-lock", "etcd");
  let clients: LockClients;
  let relayed: LockClients;
  let relayedLock: LockStrategy;
  let relay: TcpRelay;
  let probe: EtcdProbe;
  let request: LockRequest;

  before(() => {
    ({ clients, relayed, relayedLock, relay } = opened());
    probe = probeEtcd(lockServers().etcd);
  });
  beforeEach(async () => {
    request = fresh({ ttlMs: 2_000 });
    relay.heal();
    await relayedLock.runGuarded(request, async () => "connected");
  });

  const queue = () => probe.queue(request.resource);
  const untilQueued = (count: number) =>
    waitUntil(async () => (await queue()).length === count, { what: `${count} in the queue` });

  it("keeps a waiter's queue position through a short disconnect", async () => {
    const lock = createLock("etcd-lock", clients);
    const served: string[] = [];
    const waiting = await lock.runGuarded(request, async () => {
      const first = relayedLock.runGuarded(request, async () => served.push("first"));
      await untilQueued(2);
      relay.heal();
      const second = lock.runGuarded(request, async () => served.push("second"));
      await untilQueued(3);
      return { first, second };
    });
    assert.ok(waiting.status === "completed");
    await Promise.all([waiting.value.first, waiting.value.second]);
    assert.deepEqual(served, ["first", "second"]);
  });

  it("finds its queue position again if the reply to its enqueue request is lost", async () => {
    const etcd = clients.etcd();
    const lock = createEtcdLock(etcd, clients);
    let requests = 0;
    const losingReplies = createEtcdLock(
      {
        ...withWatch(etcd, (watch) => etcd.untilDeleted(watch)),
        enqueue: async (place) => {
          const found = await etcd.enqueue(place);
          requests += 1;
          if (requests === 1) throw new EtcdError("unreachable", "the reply was lost");
          return found;
        },
      },
      clients,
    );
    const outcome = await lock.runGuarded(request, async () => {
      const waiting = losingReplies.runGuarded(request, async ({ fencingToken }) => fencingToken);
      await untilQueued(2);
      const [, place] = await queue();
      await waitUntil(() => requests === 2, { what: "the second request" });
      assert.equal((await queue()).length, 2);
      return { waiting, place };
    });
    assert.ok(outcome.status === "completed");
    const second = await outcome.value.waiting;
    assert.ok(second.status === "completed");
    assert.equal(second.value, outcome.value.place?.createRevision);
  });

  it("signals the loss to a holder whose connection carries no data before the server grants the lock again", async () => {
    let aborted = false;
    const partitioned = relayedLock.runGuarded(request, async ({ signal }) => {
      relay.freeze();
      await relayed.clock.sleep(20_000, signal);
      aborted = signal.aborted;
    });
    await untilQueued(1);
    const next = await createLock("etcd-lock", clients).runGuarded(request, async () => aborted);
    assert.ok(next.status === "completed" && next.value, "the next holder entered before the first one was signalled");
    const outcome = await partitioned;
    assert.ok(outcome.status === "completed" && outcome.lease === "lost");
  });

  it("leaves nothing in the queue if the replies to its requests are lost", async () => {
    relay.swallowReplies();
    const call = relayedLock.runGuarded({ ...request, waitTimeoutMs: 300 }, async () => assert.fail("granted"));
    await assert.rejects(call, isUnavailable);
    await waitUntil(async () => (await queue()).length === 0, { what: "the queue to be empty" });
    relay.heal();
    const outcome = await relayedLock.runGuarded({ ...request, waitTimeoutMs: 5_000 }, async () => "entered");
    assert.equal(outcome.status, "completed");
  });
});

describe("etcd-lock on a server that restarts", () => {
  it("keeps the hold and the queue through a short restart", async () => {
    await using server = await startOwnEtcd();
    await using clients = openLockClients({ etcd: server.url });
    const lock = createLock("etcd-lock", clients);
    const request = fresh({ ttlMs: 10_000 });
    const probe = probeEtcd(server.url);
    let isHeld = true;
    const outcome = await lock.runGuarded(request, async () => {
      const waiting = lock.runGuarded(request, async () => isHeld);
      await waitUntil(async () => (await probe.queue(request.resource)).length === 2, { what: "the waiter to queue" });
      await server.kill();
      await server.start();
      const tooEarly = await lock.runGuarded({ ...request, waitTimeoutMs: 0 }, async () =>
        assert.fail("a second holder entered"),
      );
      assert.equal(tooEarly.status, "contended");
      isHeld = false;
      return { waiting };
    });
    assert.ok(outcome.status === "completed" && outcome.lease === "held");
    const second = await outcome.value.waiting;
    assert.ok(second.status === "completed" && second.value === false);
  });
});
