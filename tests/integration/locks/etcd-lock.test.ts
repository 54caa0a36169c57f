import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, describe, it } from "node:test";
import { isLockError } from "../../../lib/locks/errors";
import { openEtcd } from "../../../lib/locks/etcd/etcd-client";
import { createEtcdLock } from "../../../lib/locks/etcd/etcd-lock";
import { type EtcdCommands, EtcdError } from "../../../lib/locks/etcd/etcd-port";
import { createLock } from "../../../lib/locks/registry";
import type { LockRequest, LockStrategy } from "../../../lib/locks/types";
import { type EtcdProbe, probeEtcd } from "../../support/etcd-probe";
import { type LockClients, lockServers, openLockClients } from "../../support/lock-clients";
import { LockProcess } from "../../support/lock-process";
import { startOwnEtcd } from "../../support/own-etcd";
import { startTcpRelay, type TcpRelay } from "../../support/tcp-relay";
import { waitUntil } from "../../support/wait-until";

const isUnavailable = (error: unknown) => isLockError(error) && error.code === "backend_unavailable";
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
    probe = probeEtcd(lockServers().etcdUrl);
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

  it("queues in the layout of etcd's own clients: the lease in hex names the key that lives by it", async () => {
    const own = await lock.runGuarded(request, async ({ fencingToken }) => {
      const [first, ...others] = await queue();
      assert.deepEqual(others, []);
      assert.equal(first?.key, `locks/${request.resource}/${first?.leaseId.toString(16)}`);
      assert.equal(first?.createRevision, fencingToken);
      const leftSeconds = await probe.leaseSecondsLeft(first?.leaseId ?? 0n);
      assert.ok(leftSeconds >= 4 && leftSeconds <= 5, `${leftSeconds} s`);
      return first;
    });
    assert.deepEqual(await queue(), []);
    assert.ok(own.status === "completed" && own.value);
    assert.equal(await probe.leaseSecondsLeft(own.value.leaseId), -1, "the lease was not revoked");
  });

  it("gives every holder a higher fencing token than the one before, over all resources", async () => {
    let newest = 0n;
    for (let turn = 0; turn < 20; turn++) {
      await lock.runGuarded(turn % 2 ? request : fresh(), async ({ fencingToken }) => {
        assert.ok(fencingToken !== null && fencingToken > newest, `${fencingToken} after ${newest}`);
        newest = fencingToken;
      });
    }
  });

  it("serves waiters in the order they queued", async () => {
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

  it("passes over a waiter in the middle that gave up, and removes its key and its lease", async () => {
    const caller = new AbortController();
    const served: string[] = [];
    const waiting = await lock.runGuarded(request, async () => {
      const middle = lock.runGuarded({ ...request, signal: caller.signal }, async () => served.push("middle"));
      const refused = assert.rejects(middle, (error) => isLockError(error) && error.code === "aborted");
      await untilQueued(2);
      const [, abandoned] = await queue();
      const last = lock.runGuarded(request, async () => served.push("last"));
      await untilQueued(3);
      caller.abort();
      await refused;
      assert.equal((await queue()).length, 2);
      assert.equal(await probe.leaseSecondsLeft(abandoned?.leaseId ?? 0n), -1);
      return { last };
    });
    assert.ok(waiting.status === "completed");
    await waiting.value.last;
    assert.deepEqual(served, ["last"]);
  });

  it("keeps the leases of holder and waiter alive for longer than their length, and the waiter's place", async () => {
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

  it("frees nobody else's hold after its own lease ran out", async () => {
    const forgetful = createEtcdLock(clients.etcd(), clients, { watchdog: false });
    request = fresh({ ttlMs: 1_000 });
    let isSecondIn = false;
    const slow = forgetful.runGuarded(request, async ({ signal, fencingToken }) => {
      await waitUntil(() => isSecondIn, { what: "the second holder" });
      return { isLost: signal.aborted, fencingToken: fencingToken ?? 0n };
    });
    await untilQueued(1);
    const second = await lock.runGuarded({ ...request, ttlMs: 5_000 }, async ({ fencingToken }) => {
      isSecondIn = true;
      const first = await slow;
      assert.ok(first.status === "completed" && first.value.isLost && first.lease === "lost");
      assert.ok(fencingToken !== null && fencingToken > first.value.fencingToken);
      return (await queue()).map(({ createRevision }) => createRevision).includes(fencingToken);
    });
    assert.ok(second.status === "completed" && second.value && second.lease === "held");
  });

  it("signals the holder whose key an operator has removed", async () => {
    request = fresh({ ttlMs: 1_000 });
    const outcome = await lock.runGuarded(request, async ({ signal }) => {
      const [own] = await queue();
      await probe.removeKey(own?.key ?? "");
      await clients.clock.sleep(5_000, signal);
      return signal.aborted;
    });
    assert.ok(outcome.status === "completed" && outcome.value && outcome.lease === "lost");
  });

  it("queues again when an operator removes a waiter's key, and leaves no lease of the first place", async () => {
    request = fresh({ ttlMs: 1_000 });
    const outcome = await lock.runGuarded(request, async () => {
      const waiting = lock.runGuarded(request, async () => "entered");
      await untilQueued(2);
      const [, waiter] = await queue();
      await probe.removeKey(waiter?.key ?? "");
      const isBack = async () => (await queue()).some(({ leaseId }) => leaseId > 0n && leaseId !== waiter?.leaseId);
      await waitUntil(async () => (await queue()).length === 2 && isBack(), { what: "the waiter in the queue again" });
      assert.equal(await probe.leaseSecondsLeft(waiter?.leaseId ?? 0n), -1);
      return { waiting };
    });
    assert.ok(outcome.status === "completed");
    assert.equal((await outcome.value.waiting).status, "completed");
    assert.deepEqual(await queue(), []);
  });

  it("is served within the length of a lease when its watch never tells", async () => {
    const etcd = clients.etcd();
    const deaf = createEtcdLock(withWatch(etcd, untilAborted), clients);
    request = fresh({ ttlMs: 2_000 });
    const waiting = await lock.runGuarded(request, async () => {
      const call = deaf.runGuarded(request, async () => "entered");
      await untilQueued(2);
      return { call };
    });
    const freeMs = performance.now();
    assert.ok(waiting.status === "completed");
    assert.equal((await waiting.value.call).status, "completed");
    assert.ok(performance.now() - freeMs < 3_000);
  });

  it("looks again soon, and not at once, when its watch ends without a word", async () => {
    let watches = 0;
    const cut = async () => {
      watches += 1;
      return false;
    };
    const unlucky = createEtcdLock(withWatch(clients.etcd(), cut), clients);
    const waiting = await lock.runGuarded(request, async () => {
      const call = unlucky.runGuarded(request, async () => "entered");
      await untilQueued(2);
      await clients.clock.sleep(1_000);
      return { call };
    });
    assert.ok(waiting.status === "completed");
    const outcome = await waiting.value.call;
    assert.ok(outcome.status === "completed" && outcome.timings.waitMs < 3_000);
    assert.ok(watches >= 2 && watches < 8, `${watches} watches in a second`);
  });

  it("tells a holder that was paused past its lease before it goes on", async () => {
    const order = { strategyId: "etcd-lock", resource: request.resource, ttlMs: 1_000, waitTimeoutMs: 5_000 };
    await using paused = new LockProcess({ ...order, callers: 1, holdsEach: 1, holdMs: 500 });
    await waitUntil(() => paused.has("ready"), { what: "the other process" });
    paused.go();
    await waitUntil(() => paused.has("granted"), { what: "its grant" });
    paused.signal("SIGSTOP");
    const outcome = await lock.runGuarded(request, async () => "entered");
    assert.ok(outcome.status === "completed" && outcome.timings.waitMs > 500);
    paused.signal("SIGCONT");
    await waitUntil(() => paused.has("hold"), { what: "the paused section to end" });
    const kinds = paused.messages.map(({ type }) => type);
    assert.ok(kinds.indexOf("lost") !== -1 && kinds.indexOf("lost") < kinds.indexOf("hold"), kinds.join(" "));
  });

  it("names the server as unavailable when nothing listens", async () => {
    await using nowhere = openLockClients({ etcdUrl: "http://127.0.0.1:1" });
    const startedMs = performance.now();
    await assert.rejects(
      createLock("etcd-lock", nowhere).runGuarded(request, async () => 1),
      isUnavailable,
    );
    assert.ok(performance.now() - startedMs < 5_000);
  });

  it("refuses addresses that are none, and what answers there but is no etcd", async () => {
    const isConfig = (error: unknown) => isLockError(error) && error.code === "config_invalid";
    assert.throws(() => openEtcd("ftp://127.0.0.1"), isConfig);
    const server = createServer((_, response) => response.writeHead(404).end("not here")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using elsewhere = openLockClients({ etcdUrl: `127.0.0.1:${port}` });
    await assert.rejects(
      createLock("etcd-lock", elsewhere).runGuarded(request, async () => assert.fail("granted")),
      isConfig,
    );
    server.closeAllConnections();
    server.close();
  });
});

describe("etcd-lock behind a link that breaks", () => {
  let clients: LockClients;
  let relayed: LockClients;
  let relayedLock: LockStrategy;
  let relay: TcpRelay;
  let probe: EtcdProbe;
  let request: LockRequest;

  before(async () => {
    const { etcdUrl } = lockServers();
    const { hostname, port } = new URL(etcdUrl);
    relay = await startTcpRelay({ host: hostname, port: Number(port) });
    probe = probeEtcd(etcdUrl);
    clients = openLockClients();
    relayed = openLockClients({ etcdUrl: `http://127.0.0.1:${relay.port}` });
    relayedLock = createLock("etcd-lock", relayed);
  });
  after(async () => {
    await relayedLock[Symbol.asyncDispose]();
    await Promise.all([clients[Symbol.asyncDispose](), relayed[Symbol.asyncDispose]()]);
    await relay.close();
  });
  beforeEach(async () => {
    request = fresh({ ttlMs: 2_000 });
    relay.heal();
    await relayedLock.runGuarded(request, async () => "connected");
  });

  const queue = () => probe.queue(request.resource);
  const untilQueued = (count: number) =>
    waitUntil(async () => (await queue()).length === count, { what: `${count} in the queue` });

  it("keeps a waiter's place through a short break", async () => {
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

  it("finds its place again when the reply to its request for one is lost", async () => {
    const etcd = clients.etcd();
    const lock = createEtcdLock(etcd, clients);
    let asked = 0;
    const forgetful = createEtcdLock(
      {
        ...withWatch(etcd, (watch) => etcd.untilDeleted(watch)),
        enqueue: async (place) => {
          const found = await etcd.enqueue(place);
          asked += 1;
          if (asked === 1) throw new EtcdError("unreachable", "the reply was lost");
          return found;
        },
      },
      clients,
    );
    const outcome = await lock.runGuarded(request, async () => {
      const waiting = forgetful.runGuarded(request, async ({ fencingToken }) => fencingToken);
      await untilQueued(2);
      const [, place] = await queue();
      await waitUntil(() => asked === 2, { what: "the second request" });
      assert.equal((await queue()).length, 2);
      return { waiting, place };
    });
    assert.ok(outcome.status === "completed");
    const second = await outcome.value.waiting;
    assert.ok(second.status === "completed");
    assert.equal(second.value, outcome.value.place?.createRevision);
  });

  it("signals the holder behind a link that swallows everything before the server gives its lock away", async () => {
    let aborted = false;
    const partitioned = relayedLock.runGuarded(request, async ({ signal }) => {
      relay.freeze();
      await relayed.clock.sleep(20_000, signal);
      aborted = signal.aborted;
    });
    await untilQueued(1);
    const next = await createLock("etcd-lock", clients).runGuarded(request, async () => aborted);
    assert.ok(next.status === "completed" && next.value, "the next holder entered before the first was told");
    const outcome = await partitioned;
    assert.ok(outcome.status === "completed" && outcome.lease === "lost");
  });

  it("names the server as unavailable when it swallows everything", async () => {
    relay.freeze();
    const startedMs = performance.now();
    await assert.rejects(
      relayedLock.runGuarded(request, async () => 1),
      isUnavailable,
    );
    assert.ok(performance.now() - startedMs < 10_000);
  });

  it("leaves nothing in the queue when the replies to its requests are lost", async () => {
    relay.swallowReplies();
    const call = relayedLock.runGuarded({ ...request, waitTimeoutMs: 300 }, async () => assert.fail("granted"));
    await assert.rejects(call, isUnavailable);
    await waitUntil(async () => (await queue()).length === 0, { what: "the queue to be empty" });
    relay.heal();
    const outcome = await relayedLock.runGuarded({ ...request, waitTimeoutMs: 5_000 }, async () => "entered");
    assert.equal(outcome.status, "completed");
  });
});

describe("etcd-lock on a server that stops", () => {
  it("tells a waiter of a server that died and stays away", async () => {
    await using server = await startOwnEtcd();
    await using clients = openLockClients({ etcdUrl: server.url });
    const lock = createLock("etcd-lock", clients);
    const request = fresh();
    const probe = probeEtcd(server.url);
    const outcome = await lock.runGuarded(request, async () => {
      const waiting = lock.runGuarded(request, async () => 1);
      await waitUntil(async () => (await probe.queue(request.resource)).length === 2, { what: "the waiter" });
      await server.kill();
      const killedMs = performance.now();
      await assert.rejects(waiting, isUnavailable);
      assert.ok(performance.now() - killedMs < 10_000);
      return "survived";
    });
    assert.ok(outcome.status === "completed" && outcome.value === "survived");
  });

  it("keeps the hold and the queue through a short restart", async () => {
    await using server = await startOwnEtcd();
    await using clients = openLockClients({ etcdUrl: server.url });
    const lock = createLock("etcd-lock", clients);
    const request = fresh({ ttlMs: 10_000 });
    const probe = probeEtcd(server.url);
    let isHeld = true;
    const outcome = await lock.runGuarded(request, async () => {
      const waiting = lock.runGuarded(request, async () => isHeld);
      await waitUntil(async () => (await probe.queue(request.resource)).length === 2, { what: "the waiter" });
      await server.kill();
      await server.start();
      const tooEarly = await lock.runGuarded({ ...request, waitTimeoutMs: 200 }, async () => assert.fail("two hold"));
      assert.equal(tooEarly.status, "contended");
      isHeld = false;
      return { waiting };
    });
    assert.ok(outcome.status === "completed" && outcome.lease === "held");
    const second = await outcome.value.waiting;
    assert.ok(second.status === "completed" && second.value === false);
  });
});

/** The same etcd with another watch. */
function withWatch(etcd: EtcdCommands, untilDeleted: EtcdCommands["untilDeleted"]): EtcdCommands {
  return {
    grantLease: (lease) => etcd.grantLease(lease),
    keepLeaseAlive: (leaseId) => etcd.keepLeaseAlive(leaseId),
    revokeLease: (leaseId) => etcd.revokeLease(leaseId),
    enqueue: (place) => etcd.enqueue(place),
    findPlace: (queued) => etcd.findPlace(queued),
    removeKey: (key) => etcd.removeKey(key),
    untilDeleted,
    [Symbol.asyncDispose]: () => etcd[Symbol.asyncDispose](),
  };
}

const untilAborted: EtcdCommands["untilDeleted"] = ({ signal }) =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(false), { once: true });
  });
