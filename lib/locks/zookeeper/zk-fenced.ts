import type { LockEntry } from "../lock-entry";
import type { LockStrategy, StrategyTraits } from "../types";
import { QueueNode } from "./queue-claim";
import { createZkLock, type ZkLockDependencies, type ZkLockOptions } from "./zk-lock";
import type { ZkSession } from "./zk-port";

export const zkFencedTraits: StrategyTraits = {
  id: "zk-fenced",
  family: "zookeeper",
  kind: "lock",
  mechanism: "As zk-mutex; the transaction id that made the holder's node is the token PostgreSQL checks.",
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
 * `zk-mutex` whose every hold has a number, and a resource that refuses the lower one.
 *
 * Guarantees what `zk-mutex` does, and that a holder which outlived its session (a pause, a partition) cannot write over
 * its successor: the token is registered at the first read and required at the write. Token: the `czxid` of the
 * holder's node, the ensemble's transaction that made it. It rises with the queue, over all sessions and clients, and goes on
 * rising when the lock's parent node is removed and made again. Never the sequence number: that starts again with the
 * parent, and runs over after 2^31 contenders. Servers that come back without their data break it: transaction ids
 * start again, and nothing is sold until they have caught up with the highest that PostgreSQL has seen.
 * The session timeout is the server's, counted on its clock; `ttlMs` does not apply. Stands in one queue with `zk-mutex`,
 * Curator and kazoo.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`; the guarded write throws `fence_stale`
 * @see https://zookeeper.apache.org/doc/current/zookeeperProgrammers.html#sc_timeInZk
 */
export function createZkFenced(
  session: ZkSession,
  dependencies: ZkLockDependencies,
  options: Partial<ZkLockOptions> = {},
): LockStrategy {
  const { root = "/locks", ...runnerOptions } = options;
  const parts = { traits: zkFencedTraits, session, dependencies, options: runnerOptions };
  return createZkLock(parts, (context) => new QueueNode(context, { root, isFenced: true }));
}

/** Registration, listed in all-locks.ts. */
export const zkFenced: LockEntry = {
  traits: zkFencedTraits,
  create: (dependencies) => createZkFenced(dependencies.zookeeper(), dependencies),
};
