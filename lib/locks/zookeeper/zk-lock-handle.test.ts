import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FakeClock } from "../testing/fake-clock";
import { seededRandom } from "../testing/seeded-random";
import { ZkLockHandle, type ZkLockNode } from "./zk-lock-handle";
import type { ZkConnection, ZkSession } from "./zk-port";

class FakeConnection {
  readonly sessionId = "1";
  readonly ended = new AbortController().signal;
  isUp = true;
  readonly listeners = new Set<(link: "up" | "down") => void>();

  onLinkChange(listener: (link: "up" | "down") => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  change(link: "up" | "down"): void {
    this.isUp = link === "up";
    for (const listener of [...this.listeners]) listener(link);
  }
}

/** A handle on one connection. `onAttempt` runs before the node's attempt number `attempts` is granted. */
function setUp(onAttempt: (connection: FakeConnection, attempts: number) => void) {
  const connection = new FakeConnection();
  const losses: unknown[] = [];
  let attempts = 0;
  const node: ZkLockNode = {
    attempt: async () => {
      attempts += 1;
      onAttempt(connection, attempts);
      return { status: "granted" };
    },
    reset: () => {},
    remove: async () => "released",
  };
  const session: ZkSession = {
    connected: async () => {
      if (!connection.isUp) connection.change("up");
      return connection as unknown as ZkConnection;
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const context = {
    resource: "product:1",
    holderId: "holder",
    ttlMs: 300,
    clock: new FakeClock(),
    random: seededRandom(1),
    declareLost: (reason: unknown) => void losses.push(reason),
  };
  const handle = new ZkLockHandle({ strategyId: "zk-mutex", session, context, node });
  const acquire = () => handle.tryAcquire({ waitLimitMs: 1_000, signal: new AbortController().signal });
  return { acquire, connection, losses, attempts: () => attempts };
}

describe("a ZooKeeper grant", () => {
  it("is not accepted on a connection that went down during the try, because its loss would not be noticed", async () => {
    const { acquire, connection, losses, attempts } = setUp((link, attempt) => attempt === 1 && link.change("down"));
    assert.deepEqual(await acquire(), { status: "granted" });
    assert.equal(attempts(), 2, "expected a second attempt on the connection that is up again");
    assert.equal(connection.isUp, true);
    assert.deepEqual(losses, []);
  });

  it("is declared lost when the connection goes down", async () => {
    const { acquire, connection, losses } = setUp(() => {});
    await acquire();
    connection.change("down");
    assert.equal(losses.length, 1);
  });
});
