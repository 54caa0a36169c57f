import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, describe, it } from "node:test";
import { createLock } from "../../../lib/locks/create-lock";
import { isLockError } from "../../../lib/locks/errors";
import { openEtcd } from "../../../lib/locks/etcd/etcd-client";
import { createEtcdLock } from "../../../lib/locks/etcd/etcd-lock";
import type { EtcdCommands } from "../../../lib/locks/etcd/etcd-port";
import type { LockRequest, LockStrategy } from "../../../lib/locks/types";
import { type EtcdProbe, probeEtcd } from "../../support/etcd-probe";
import { withWatch } from "../../support/etcd-with-watch";
import { makeGate } from "../../support/gate";
import { type LockClients, lockServers, openLockClients } from "../../support/lock-clients";
import { waitUntil } from "../../support/wait-until";

const _isUnavailable = (error: unknown) => isLockError(error) && error.code === "backend_unavailable";
const fresh = (overrides: Partial<LockRequest> = {}): LockRequest => ({
  resource: `test:${randomUUID()}`,
  waitTimeoutMs: 15_000,
  ttlMs: 5_000,
  ...overrides,
});

describe("etcd-lock", () => {
  let clients: LockClients;
  let lock: LockStrategy;
  let probe: EtcdProbe;
  let request: LockRequest;

  before(() => {
    clients = openLockClients();
    lock = createLock("etcd-lock", clients);
    probe = probeEtcd(lockServers().etcd);
  });
  after(async () => {
    await lock[Symbol.asyncDispose]();
    await clients[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    request = fresh();
  });

  const queue = () => probe.queue(request.resource);
  const untilQueued = (count: number) =>
    waitUntil(async () => (await queue()).length === count, { what: `${count} in the queue` });

  it("queues in the layout of etcd's clients: the lease id in hex names the key attached to it", async () => {
    const own = await lock.runGuarded(request, async ({ fencingToken }) => {
      const [first, ...others] = await queue();
      assert.deepEqual(others, []);
      assert.equal(first?.key, `locks/${request.resource}/${first?.leaseId.toString(16)}`);
      assert.equal(first?.createRevision, fencingToken);
      const leftSeconds = await probe.leaseSecondsLeft(first?.leaseId ?? 0n);
      assert.ok(leftSeconds >= 2 && leftSeconds <= 5, `${leftSeconds} s`);
      return first;
    });
    assert.deepEqual(await queue(), []);
    assert.ok(own.status === "completed" && own.value);
    assert.equal(await probe.leaseSecondsLeft(own.value.leaseId), -1, "the lease was not revoked");
  });

  it("gives every holder a higher fencing token than the previous one, over all resources", async () => {
    let newest = 0n;
    for (let turn = 0; turn < 20; turn++) {
      await lock.runGuarded(turn % 2 ? request : fresh(), async ({ fencingToken }) => {
        assert.ok(
          fencingToken !== null && fencingToken > newest,
          `expected a token above ${newest}, found ${fencingToken}`,
        );
        newest = fencingToken;
      });
    }
  });

  it("serves waiters in queue order", async () => {
    const served: number[] = [];
    const waiting: Promise<unknown>[] = [];
    await lock.runGuarded(request, async () => {
      for (let turn = 0; turn < 10; turn++) {
        waiting.push(lock.runGuarded(request, async () => served.push(turn)));
        await untilQueued(turn + 2);
      }
    });
    await Promise.all(waiting);
    assert.deepEqual(served, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("does not wait for a client that unlocks and queues again under the same key, and vice versa", async () => {
    const etcd = clients.etcd();
    const folder = `locks/${request.resource}`;
    const leaseId = BigInt(`0x${randomUUID().replaceAll("-", "").slice(0, 15)}`) | 1n;
    const theirs = { folder, key: `${folder}/${leaseId.toString(16)}`, leaseId };
    // The event of the unlock arrives after the other client has queued again.
    const hasQueuedAgain = makeGate();
    const lateWatch = withWatch(etcd, () => hasQueuedAgain.pass().then(() => true));
    await using waiter = createEtcdLock(lateWatch, clients);
    await etcd.grantLease({ leaseId, ttlSeconds: 60 });
    try {
      await etcd.enqueue(theirs);
      const ours = waiter.runGuarded({ ...request, waitTimeoutMs: 3_000 }, queue);
      await untilQueued(2);
      await etcd.removeKey(theirs.key);
      const { predecessor } = await etcd.enqueue(theirs);
      hasQueuedAgain.open();
      assert.notEqual(predecessor, null, "expected the other client to queue behind our waiter, found it in front");
      const outcome = await ours;
      assert.ok(outcome.status === "completed", "our lock waited for a key that stands behind its own");
      assert.deepEqual(
        outcome.value.map(({ key }) => key),
        [predecessor, theirs.key],
      );
    } finally {
      await etcd.revokeLease(leaseId);
    }
  });

  it("skips a waiter in the middle that aborted, and removes its key and its lease", async () => {
    const caller = new AbortController();
    const served: string[] = [];
    const waiting = await lock.runGuarded(request, async () => {
      const middle = lock.runGuarded({ ...request, signal: caller.signal }, async () => served.push("middle"));
      const rejected = assert.rejects(middle, (error) => isLockError(error) && error.code === "aborted");
      await untilQueued(2);
      const [, abandoned] = await queue();
      const last = lock.runGuarded(request, async () => served.push("last"));
      await untilQueued(3);
      caller.abort();
      await rejected;
      assert.equal((await queue()).length, 2);
      assert.equal(await probe.leaseSecondsLeft(abandoned?.leaseId ?? 0n), -1);
      return { last };
    });
    assert.ok(waiting.status === "completed");
    await waiting.value.last;
    assert.deepEqual(served, ["last"]);
  });

  it("renews the leases of holder and waiter past their length, and keeps the waiter's queue position", async () => {
    request = fresh({ ttlMs: 1_000 });
    const outcome = await lock.runGuarded(request, async ({ signal }) => {
      const waiting = lock.runGuarded(request, async ({ fencingToken }) => fencingToken);
      await untilQueued(2);
      const [, waiter] = await queue();
      await clients.clock.sleep(5_000, signal);
      return { waiting, waiter, isLost: signal.aborted };
    });
    assert.ok(outcome.status === "completed" && outcome.lease === "held" && !outcome.value.isLost);
    const second = await outcome.value.waiting;
    assert.ok(second.status === "completed");
    assert.equal(second.value, outcome.value.waiter?.createRevision);
  });

  it("queues again if an operator deletes a waiter's key, and leaves no lease of the first key", async () => {
    request = fresh({ ttlMs: 1_000 });
    const outcome = await lock.runGuarded(request, async () => {
      const waiting = lock.runGuarded(request, async () => "entered");
      await untilQueued(2);
      const [, waiter] = await queue();
      await probe.removeKey(waiter?.key ?? "");
      const isBack = async () => (await queue()).some(({ leaseId }) => leaseId > 0n && leaseId !== waiter?.leaseId);
      await waitUntil(async () => (await queue()).length === 2 && isBack(), { what: "the waiter to queue again" });
      assert.equal(await probe.leaseSecondsLeft(waiter?.leaseId ?? 0n), -1);
      return { waiting };
    });
    assert.ok(outcome.status === "completed");
    assert.equal((await outcome.value.waiting).status, "completed");
    assert.deepEqual(await queue(), []);
  });

  it("is served within one lease length if its watch sends no event", async () => {
    const etcd = clients.etcd();
    const withoutEvents = createEtcdLock(withWatch(etcd, untilAborted), clients);
    request = fresh({ ttlMs: 2_000 });
    const waiting = await lock.runGuarded(request, async () => {
      const call = withoutEvents.runGuarded(request, async () => "entered");
      await untilQueued(2);
      return { call };
    });
    assert.ok(waiting.status === "completed");
    assert.equal((await waiting.value.call).status, "completed");
  });

  it("checks the queue again soon, but not at once, if its watch ends without an event", async () => {
    let watches = 0;
    const cut = async () => {
      watches += 1;
      return false;
    };
    const withBrokenWatch = createEtcdLock(withWatch(clients.etcd(), cut), clients);
    const startedMs = performance.now();
    const waiting = await lock.runGuarded(request, async () => {
      const call = withBrokenWatch.runGuarded(request, async () => "entered");
      await untilQueued(2);
      await waitUntil(() => watches >= 4, { what: "the waiter to check the queue four times" });
      return { call };
    });
    assert.ok(waiting.status === "completed");
    const outcome = await waiting.value.call;
    assert.equal(outcome.status, "completed");
    const perSecond = watches / ((performance.now() - startedMs) / 1_000);
    assert.ok(perSecond < 8, `expected fewer than 8 watches per second, found ${perSecond.toFixed(1)}`);
  });

  it("rejects invalid addresses, and a server that is not etcd", async () => {
    const isConfig = (error: unknown) => isLockError(error) && error.code === "config_invalid";
    assert.throws(() => openEtcd("ftp://127.0.0.1"), isConfig);
    const server = createServer((_, response) => response.writeHead(404).end("not here")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using elsewhere = openLockClients({ etcd: `127.0.0.1:${port}` });
    await assert.rejects(
      createLock("etcd-lock", elsewhere).runGuarded(request, async () => assert.fail("granted")),
      isConfig,
    );
    server.closeAllConnections();
    server.close();
  });
});

const untilAborted: EtcdCommands["untilDeleted"] = ({ signal }) =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(false), { once: true });
  });
