import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { createLock } from "../../../lib/locks/create-lock";
import type { Grant, LockRequest, LockStrategy } from "../../../lib/locks/types";
import type { ZkConnection } from "../../../lib/locks/zookeeper/zk-port";
import { type LockClients, openLockClients } from "../../support/lock-clients";

const fresh = (): LockRequest => ({ resource: `test:${randomUUID()}`, waitTimeoutMs: 10_000, ttlMs: 5_000 });

const connectionOf = (clients: LockClients): Promise<ZkConnection> =>
  clients.zookeeper().connected(AbortSignal.timeout(5_000));

async function tokenOf(lock: LockStrategy, request: LockRequest, look?: (grant: Grant) => Promise<void>) {
  const outcome = await lock.runGuarded(request, async (grant) => {
    await look?.(grant);
    return grant.fencingToken;
  });
  assert.ok(outcome.status === "completed" && outcome.value !== null);
  return outcome.value;
}

function assertRising(tokens: readonly (bigint | null)[]): void {
  for (const [index, token] of tokens.entries()) {
    assert.ok(token !== null, `hold ${index} has no token`);
    assert.ok(
      index === 0 || token > (tokens[index - 1] ?? 0n),
      `expected the token of hold ${index} to be above ${tokens[index - 1]}, found ${token}`,
    );
  }
}

describe("zk-fenced", () => {
  it("returns the czxid of the holder's node as fencing token", async () => {
    await using clients = openLockClients();
    await using lock = createLock("zk-fenced", clients);
    const request = fresh();
    await tokenOf(lock, request, async ({ fencingToken }) => {
      const connection = await connectionOf(clients);
      const [node = ""] = await connection.children(`/locks/${request.resource}`);
      const stat = await connection.stat(`/locks/${request.resource}/${node}`);
      assert.equal(fencingToken, stat?.czxid);
    });
  });

  it("returns rising tokens across sessions", async () => {
    const request = fresh();
    const tokens: bigint[] = [];
    for (let session = 0; session < 3; session += 1) {
      await using clients = openLockClients();
      await using lock = createLock("zk-fenced", clients);
      tokens.push(await tokenOf(lock, request), await tokenOf(lock, request));
    }
    assertRising(tokens);
  });

  it("returns rising tokens although the parent node was deleted and the sequence restarted", async () => {
    await using clients = openLockClients();
    await using lock = createLock("zk-fenced", clients);
    const request = fresh();
    const folder = `/locks/${request.resource}`;
    const sequences: number[] = [];
    const connection = await connectionOf(clients);
    const noteSequence = async () => {
      const [node = ""] = await connection.children(folder);
      sequences.push(Number(node.slice(-10)));
    };
    const before = [await tokenOf(lock, request, noteSequence), await tokenOf(lock, request, noteSequence)];
    assert.ok(await connection.remove(folder));
    const after = [await tokenOf(lock, request, noteSequence), await tokenOf(lock, request, noteSequence)];
    assert.deepEqual(sequences, [0, 1, 0, 1]);
    assertRising([...before, ...after]);
  });

  it("shares one queue with zk-mutex", async () => {
    await using clients = openLockClients();
    await using fenced = createLock("zk-fenced", clients);
    await using mutex = createLock("zk-mutex", clients);
    const request = fresh();
    const outcome = await fenced.runGuarded(request, () =>
      mutex.runGuarded({ ...request, waitTimeoutMs: 0 }, async () => "entered"),
    );
    assert.ok(outcome.status === "completed" && outcome.value.status === "contended");
  });
});
