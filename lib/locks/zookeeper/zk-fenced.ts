import type { LockEntry } from "../lock-entry";
import type { LockStrategy, StrategyTraits } from "../types";
import { QUEUE_ROOT } from "./lock-queue";
import { QueueNode } from "./queue-node";
import { createZkLock, type ZkLockDependencies, type ZkLockOptions } from "./zk-lock";
import type { ZkSession } from "./zk-port";

export const zkFencedTraits: StrategyTraits = {
  id: "zk-fenced",
  family: "zookeeper",
  kind: "lock",
  mechanism:
    "As zk-mutex, with a fencing token: the transaction id that created the holder's node. PostgreSQL rejects older tokens.",
  remark: "fenced queue",
  needs: ["zookeeper"],
  waiting: "notify",
  fair: true,
  expiryClock: "session",
  fencingSource: "czxid of the holder's node",
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "survives", serverRestart: "survives" },
};

/**
 * `zk-mutex` with a fencing token on every grant, and a resource that rejects older tokens.
 *
 * Mechanism: as `zk-mutex`, and in the same queue as `zk-mutex`, Curator and kazoo.
 *
 * Guarantees what `zk-mutex` does. In addition, a holder that outlives its session (a pause, a partition) cannot
 * overwrite its successor: the resource registers the token at the first read and requires it at the write.
 * Broken by: servers that restart without their data. Transaction ids start again, and sales stop until they exceed the
 * highest token that PostgreSQL has seen.
 * Fencing token: the `czxid` of the holder's node, the transaction that created it. It rises with the queue, over all
 * sessions and clients, and keeps rising when the lock's parent node is deleted and created again. The sequence number
 * would not do: it starts again with the parent, and wraps after 2^31 nodes.
 * Clock: the server's clock ends the session after the session timeout; `ttlMs` does not apply. Times in milliseconds.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`; the guarded write throws `fence_stale`
 * @see https://zookeeper.apache.org/doc/current/zookeeperProgrammers.html#sc_timeInZk
 */
export function createZkFenced(
  session: ZkSession,
  dependencies: ZkLockDependencies,
  options: Partial<ZkLockOptions> = {},
): LockStrategy {
  const { root = QUEUE_ROOT, ...runnerOptions } = options;
  const setup = { traits: zkFencedTraits, session, dependencies, options: runnerOptions };
  return createZkLock(setup, (context) => new QueueNode(context, { root, isFenced: true }));
}

/** Registration, listed in all-locks.ts. */
export const zkFenced: LockEntry = {
  traits: zkFencedTraits,
  create: (dependencies) => createZkFenced(dependencies.zookeeper(), dependencies),
};
