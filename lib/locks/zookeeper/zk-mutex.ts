import type { LockEntry } from "../lock-entry";
import type { LockStrategy, StrategyTraits } from "../types";
import { QUEUE_ROOT } from "./lock-queue";
import { QueueNode } from "./queue-node";
import { createZkLock, type ZkLockDependencies, type ZkLockOptions } from "./zk-lock";
import type { ZkSession } from "./zk-port";

export const zkMutexTraits: StrategyTraits = {
  id: "zk-mutex",
  family: "zookeeper",
  kind: "lock",
  mechanism: "Ephemeral sequential nodes. The lowest holds the lock; each waiter watches only the node before it.",
  remark: "fair queue",
  needs: ["zookeeper"],
  waiting: "notify",
  fair: true,
  expiryClock: "session",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "survives" },
};

/**
 * A queue of ephemeral sequential nodes.
 *
 * Mechanism: the lowest node holds the lock, and each waiter watches the node before it. The create is protected: a
 * node whose reply was lost is found again by its uuid. The path is `<root>/<resource>`, as in Curator and kazoo.
 *
 * Guarantees one holder at a time, in arrival order, one waiter woken per release, and no hold that outlives its
 * session. A restarted server keeps the queue and the sessions.
 * Broken by: a holder paused past the session timeout, because two holders overlap until it detects the loss.
 * `grant.signal` aborts as soon as the connection is lost, even if the session survives.
 * Fencing token: none. `zk-fenced` uses the node's czxid.
 * Clock: the server's clock ends the session after the session timeout; `ttlMs` does not apply. Times in milliseconds.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`
 * @see https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks
 */
export function createZkMutex(
  session: ZkSession,
  dependencies: ZkLockDependencies,
  options: Partial<ZkLockOptions> = {},
): LockStrategy {
  const { root = QUEUE_ROOT, ...runnerOptions } = options;
  const setup = { traits: zkMutexTraits, session, dependencies, options: runnerOptions };
  return createZkLock(setup, (context) => new QueueNode(context, { root, isFenced: false }));
}

/** Registration, listed in all-locks.ts. */
export const zkMutex: LockEntry = {
  traits: zkMutexTraits,
  create: (dependencies) => createZkMutex(dependencies.zookeeper(), dependencies),
};
