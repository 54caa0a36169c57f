import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { before, beforeEach, describe, it } from "node:test";
import { isLockError } from "../../../lib/locks/errors";
import type { LockRequest, LockStrategy } from "../../../lib/locks/types";
import { createZkMutex } from "../../../lib/locks/zookeeper/zk-mutex";
import { isZkError } from "../../../lib/locks/zookeeper/zk-port";
import { openZkSession } from "../../../lib/locks/zookeeper/zk-session";
import { type LockClients, TEST_SESSION_TIMEOUT_MS } from "../../support/lock-clients";
import { useRelayedLock } from "../../support/relayed-lock";
import { relayService } from "../../support/relayed-servers";
import type { TcpRelay } from "../../support/tcp-relay";
import { waitUntil } from "../../support/wait-until";

const isUnavailable = (error: unknown) => isLockError(error) && error.code === "backend_unavailable";

/** The client drops the connection after this time without an answer. */
const SILENCE_LIMIT_MS = (2 / 3) * TEST_SESSION_TIMEOUT_MS;

describe("zk-mutex", () => {
  const opened = useRelayedLock("zk-mutex", "zookeeper");
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
    request = { resource: `test:${randomUUID()}`, waitTimeoutMs: 10_000, ttlMs: 5_000 };
    relay.heal();
    await relayedLock.runGuarded(request, async () => "connected");
  });

  /** The queued nodes on the server. */
  async function queue(): Promise<string[]> {
    const connection = await clients.zookeeper().connected(AbortSignal.timeout(5_000));
    return connection.children(`/locks/${request.resource}`);
  }

  it("queues in Curator's layout", async () => {
    await lock.runGuarded(request, async () => {
      const [node = ""] = await queue();
      assert.match(node, /^_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-lock-\d{10}$/);
    });
    assert.deepEqual(await queue(), []);
  });

  it("serves waiters in queue order", async () => {
    const served: number[] = [];
    const waiting: Promise<unknown>[] = [];
    await lock.runGuarded(request, async () => {
      for (let turn = 0; turn < 10; turn++) {
        waiting.push(lock.runGuarded(request, async () => served.push(turn)));
        await waitUntil(async () => (await queue()).length === turn + 2, { what: `waiter ${turn} in the queue` });
      }
    });
    await Promise.all(waiting);
    assert.deepEqual(served, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("skips a waiter in the middle that aborted, and deletes its node", async () => {
    const caller = new AbortController();
    const served: string[] = [];
    const waiting = await lock.runGuarded(request, async () => {
      const middle = lock.runGuarded({ ...request, signal: caller.signal }, async () => served.push("middle"));
      const rejected = assert.rejects(middle, (error) => isLockError(error) && error.code === "aborted");
      await waitUntil(async () => (await queue()).length === 2, { what: "the middle waiter to queue" });
      const last = lock.runGuarded(request, async () => served.push("last"));
      await waitUntil(async () => (await queue()).length === 3, { what: "the last waiter to queue" });
      caller.abort();
      await rejected;
      assert.equal((await queue()).length, 2);
      return { last };
    });
    assert.ok(waiting.status === "completed");
    await waiting.value.last;
    assert.deepEqual(served, ["last"]);
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
    await waitUntil(async () => (await queue()).length === 0, { what: "the node to be removed" });
  });

  it("signals the loss to a holder whose connection carries no data before the server grants the lock again", async () => {
    let aborted = false;
    let isGranted = false;
    const partitioned = relayedLock.runGuarded(request, async ({ signal }) => {
      isGranted = true;
      relay.freeze();
      await relayed.clock.sleep(20_000, signal);
      aborted = signal.aborted;
    });
    await waitUntil(() => isGranted, { what: "the first grant" });
    const next = await lock.runGuarded(request, async () => aborted);
    assert.ok(next.status === "completed" && next.value, "the next holder entered before the first one was signalled");
    const outcome = await partitioned;
    assert.ok(outcome.status === "completed" && outcome.lease === "lost");
  });

  it("opens a new session after an expiry and serves again", async () => {
    const connection = await relayed.zookeeper().connected(AbortSignal.timeout(5_000));
    relay.freeze();
    await waitUntil(() => connection.ended.aborted, { what: "the session to end" });
    relay.heal();
    const outcome = await relayedLock.runGuarded(request, async () => "entered");
    assert.equal(outcome.status, "completed");
    const renewed = await relayed.zookeeper().connected(AbortSignal.timeout(5_000));
    assert.notEqual(renewed.sessionId, connection.sessionId);
  });

  it("drops a connection that is accepted but never answered, and opens another", async () => {
    const links = new Set<Socket>();
    const silent = createServer((link) => void links.add(link)).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const timeLimit = new AbortController();
    try {
      await using session = openZkSession(`127.0.0.1:${port}`, { sessionTimeoutMs: TEST_SESSION_TIMEOUT_MS });
      const rejected = assert.rejects(session.connected(timeLimit.signal), (error) => isZkError(error, "unreachable"));
      await waitUntil(() => links.size === 2, { what: "a second connection" });
      timeLimit.abort();
      await rejected;
    } finally {
      for (const link of links) link.destroy();
      silent.close();
    }
  });

  it("can be closed at any time while connecting", async () => {
    await using own = await relayService("zookeeper");
    const [link] = own.relays;
    assert.ok(link);
    await link.refuse();
    // Many sessions, because each pauses for a random time between its attempts.
    const sessions = Array.from({ length: 20 }, () => openZkSession(`127.0.0.1:${link.port}`));
    const isUnreachable = (error: unknown) => isZkError(error, "unreachable");
    await Promise.all(
      sessions.map((session) => assert.rejects(session.connected(AbortSignal.timeout(100)), isUnreachable)),
    );
    await Promise.all(sessions.map((session) => session[Symbol.asyncDispose]()));
    await link.listen();
    await waitUntil(() => link.links.taken > 0 && link.links.open === 0, { what: "the last attempts to end" });
  });

  it("reports an unreachable server to a queued waiter that is disconnected when its wait times out", async () => {
    const options = { tryLimitMs: 60_000, outageToleranceMs: 60_000 };
    await using longTryLock = createZkMutex(relayed.zookeeper(), relayed, options);
    await lock.runGuarded(request, async () => {
      const call = longTryLock.runGuarded({ ...request, waitTimeoutMs: 4_000 }, async () => assert.fail("granted"));
      const rejected = assert.rejects(call, isUnavailable);
      await waitUntil(async () => (await queue()).length === 2, { what: "the waiter to queue" });
      await relay.refuse();
      await rejected;
    });
    await relay.listen();
    await waitUntil(async () => (await queue()).length === 0, { what: "the waiter's node to be removed" });
  });

  it("leaves no orphan in the queue if the reply to its create is lost", async () => {
    relay.swallowReplies();
    const call = relayedLock.runGuarded({ ...request, waitTimeoutMs: 300 }, async () => assert.fail("granted"));
    await waitUntil(async () => (await queue()).length === 1, { what: "the server to execute the create" });
    await assert.rejects(call, isUnavailable);
    relay.heal();
    await waitUntil(async () => (await queue()).length === 0, { what: "the orphan to be removed" });
    // The owner deleted it; the session is still alive.
    const outcome = await relayedLock.runGuarded({ ...request, waitTimeoutMs: 2_000 }, async () => "entered");
    assert.equal(outcome.status, "completed");
  });

  it("keeps a waiter's queue position through a short disconnect", async () => {
    const served: string[] = [];
    const waiting = await lock.runGuarded(request, async () => {
      const first = relayedLock.runGuarded(request, async () => served.push("first"));
      await waitUntil(async () => (await queue()).length === 2, { what: "the first waiter to queue" });
      relay.heal();
      const second = lock.runGuarded(request, async () => served.push("second"));
      await waitUntil(async () => (await queue()).length === 3, { what: "the second waiter to queue" });
      return { first, second };
    });
    assert.ok(waiting.status === "completed");
    await Promise.all([waiting.value.first, waiting.value.second]);
    assert.deepEqual(served, ["first", "second"]);
  });

  it("queues again if an operator deletes a waiter's node", async () => {
    const waiting = await lock.runGuarded(request, async () => {
      const second = lock.runGuarded(request, async () => "entered");
      await waitUntil(async () => (await queue()).length === 2, { what: "the waiter to queue" });
      const connection = await clients.zookeeper().connected(AbortSignal.timeout(5_000));
      const [, node = ""] = (await queue()).toSorted((left, right) => left.slice(-10).localeCompare(right.slice(-10)));
      assert.ok(await connection.remove(`/locks/${request.resource}/${node}`));
      return { second };
    });
    assert.ok(waiting.status === "completed");
    assert.equal((await waiting.value.second).status, "completed");
    assert.deepEqual(await queue(), []);
  });
});
