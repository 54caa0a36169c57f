import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, beforeEach, describe, it } from "node:test";
import { isLockError } from "../../../lib/locks/errors";
import type { LockRequest, LockStrategy } from "../../../lib/locks/types";
import { createZkExclusive } from "../../../lib/locks/zookeeper/zk-exclusive";
import type { ZkWatchEvent } from "../../../lib/locks/zookeeper/zk-lock-handle";
import { createZkMutex } from "../../../lib/locks/zookeeper/zk-mutex";
import { makeGate } from "../../support/gate";
import { type LockClients, lockServers, openLockClients, TEST_SESSION_TIMEOUT_MS } from "../../support/lock-clients";
import { useRelayedLock } from "../../support/relayed-lock";
import type { TcpRelay } from "../../support/tcp-relay";
import { waitUntil } from "../../support/wait-until";
import { watchesUnder } from "../../support/zk-watches";

const WAITERS = 8;
/** The client drops the connection after this time without an answer. */
const SILENCE_LIMIT_MS = (2 / 3) * TEST_SESSION_TIMEOUT_MS;

const fresh = (): LockRequest => ({ resource: `test:${randomUUID()}`, waitTimeoutMs: 20_000, ttlMs: 5_000 });

type Create = typeof createZkExclusive | typeof createZkMutex;

/** The cost of one release with `WAITERS` waiting sessions, until the next holder has entered and the others wait again. */
async function costOfOneRelease(create: Create, root: string) {
  const clients = Array.from({ length: WAITERS + 1 }, () => openLockClients());
  const events: ZkWatchEvent[] = [];
  const onWatchEvent = (event: ZkWatchEvent) => void events.push(event);
  const locks = clients.map((own) => create(own.zookeeper(), { ...own, onWatchEvent }));
  try {
    return await releaseOnce(locks, { events, root });
  } finally {
    await Promise.all(locks.map((lock) => lock[Symbol.asyncDispose]()));
    await Promise.all(clients.map((own) => own[Symbol.asyncDispose]()));
  }
}

async function releaseOnce(
  [first, ...others]: readonly LockStrategy[],
  { events, root }: { readonly events: readonly ZkWatchEvent[]; readonly root: string },
) {
  const { zookeeper: zookeeperHosts } = lockServers();
  const request = fresh();
  const path = `${root}/${request.resource}`;
  const watchers = async () => {
    const counts = [...(await watchesUnder(zookeeperHosts, path)).values()];
    return { total: counts.reduce((sum, count) => sum + count, 0), nodes: counts.length };
  };
  const gates = [makeGate(), makeGate()];
  let entered = 0;
  const hold = async () => {
    const gate = gates[entered];
    entered += 1;
    await gate?.pass();
  };
  const calls = [first?.runGuarded(request, hold)];
  await gates[0]?.reached;
  calls.push(...others.map((lock) => lock.runGuarded(request, hold)));
  await waitUntil(async () => (await watchers()).total === WAITERS, { what: "every waiter to watch" });
  const before = { ...(await watchers()), events: events.length };
  gates[0]?.open();
  await gates[1]?.reached;
  await waitUntil(async () => (await watchers()).total === WAITERS - 1, { what: "the others to watch again" });
  const woken = events.length - before.events;
  gates[1]?.open();
  const outcomes = await Promise.all(calls);
  assert.ok(outcomes.every((outcome) => outcome?.status === "completed"));
  return { woken, watchedNodes: before.nodes, paths: new Set(events.map(({ path: node }) => node)).size };
}

describe("zk-exclusive", () => {
  const opened = useRelayedLock("zk-exclusive", "zookeeper");
  let clients: LockClients;
  let lock: LockStrategy;
  let relayed: LockClients;
  let relayedLock: LockStrategy;
  let relay: TcpRelay;
  let request: LockRequest;

  before(() => {
    ({ clients, lock, relayed, relayedLock, relay } = opened());
  });
  beforeEach(async () => {
    request = fresh();
    relay.heal();
    await relayedLock.runGuarded(fresh(), async () => "connected");
  });

  const connection = () => clients.zookeeper().connected(AbortSignal.timeout(5_000));
  const nodeData = async () => (await connection()).read(`/exclusive-locks/${request.resource}`);

  it("wakes every waiter at a release, where zk-mutex wakes one", async () => {
    const herd = await costOfOneRelease(createZkExclusive, "/exclusive-locks");
    const queue = await costOfOneRelease(createZkMutex, "/locks");
    assert.deepEqual(herd, { woken: WAITERS, watchedNodes: 1, paths: 1 });
    assert.deepEqual(queue, { woken: 1, watchedNodes: WAITERS, paths: WAITERS });
  });

  it("is one ephemeral node that names its holder and is deleted by the release", async () => {
    await lock.runGuarded(request, async ({ holderId }) => {
      assert.equal(await nodeData(), holderId);
      const stat = await (await connection()).stat(`/exclusive-locks/${request.resource}`);
      assert.equal(stat?.ephemeralOwner, (await connection()).sessionId);
    });
    assert.equal(await nodeData(), null);
  });

  it("recognises its node if the reply to its create is lost", async () => {
    relay.swallowReplies();
    const call = relayedLock.runGuarded(request, async ({ holderId }) => (await nodeData()) === holderId);
    await waitUntil(async () => (await nodeData()) !== null, { what: "the server to execute the create" });
    relay.heal();
    const outcome = await call;
    assert.ok(outcome.status === "completed" && outcome.value && outcome.lease === "held");
  });

  it("deletes its node if the reply to its create is lost and the caller has timed out", async () => {
    relay.swallowReplies();
    const call = relayedLock.runGuarded({ ...request, waitTimeoutMs: 300 }, async () => assert.fail("granted"));
    await waitUntil(async () => (await nodeData()) !== null, { what: "the server to execute the create" });
    await assert.rejects(call, (error) => isLockError(error) && error.code === "backend_unavailable");
    relay.heal();
    await waitUntil(async () => (await nodeData()) === null, { what: "the orphan to be removed" });
  });

  it("signals the loss at once when the connection breaks, and releases the lock after the reconnect", async () => {
    const outcome = await relayedLock.runGuarded(request, async ({ signal }) => {
      const brokenMs = performance.now();
      relay.heal();
      await relayed.clock.sleep(10_000, signal);
      return performance.now() - brokenMs;
    });
    assert.ok(outcome.status === "completed" && outcome.lease === "lost");
    assert.ok(outcome.value < SILENCE_LIMIT_MS, `${outcome.value} ms: the client waited for a failed ping`);
    await waitUntil(async () => (await nodeData()) === null, { what: "the node to be removed" });
  });

  it("does not release another hold after an operator deleted its node", async () => {
    const next = makeGate();
    let nextCall: Promise<unknown> = Promise.resolve();
    const outcome = await lock.runGuarded(request, async () => {
      assert.ok(await (await connection()).remove(`/exclusive-locks/${request.resource}`));
      nextCall = relayedLock.runGuarded(request, () => next.pass());
      await next.reached;
    });
    assert.ok(outcome.status === "completed" && outcome.lease === "lost");
    assert.notEqual(await nodeData(), null);
    next.open();
    await nextCall;
    assert.equal(await nodeData(), null);
  });
});
