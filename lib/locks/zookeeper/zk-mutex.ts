import type { LockEntry } from "../lock-entry";
import type { LockStrategy, StrategyTraits } from "../types";
import { QueueNode } from "./queue-claim";
import { createZkLock, type ZkLockDependencies, type ZkLockOptions } from "./zk-lock";
import type { ZkSession } from "./zk-port";

export const zkMutexTraits: StrategyTraits = {
  id: "zk-mutex",
  family: "zookeeper",
  kind: "lock",
  mechanism: "Ephemeral sequential nodes under the lock; the lowest holds, each other watches only the one before it.",
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
 * A queue of ephemeral sequential nodes; whoever has the lowest holds, and each waiter watches the one before it.
 *
 * Guarantees one holder at a time, first come first served, one waiter woken per release, and no hold that outlives its
 * session. The create is protected: a node whose reply was lost is found again by its uuid. A holder paused past the
 * session timeout breaks it: until it notices, two believe they hold. `grant.signal` aborts as soon as the connection is
 * lost, whether or not the session survives. Restarted servers keep queue and sessions.
 * Curator's and kazoo's lock path is `<root>/<resource>`.
 * No fencing token (`zk-fenced` uses the node's czxid). The session timeout is the server's, counted on its clock;
 * `ttlMs` does not apply.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`
 * @see https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks
 */
export function createZkMutex(
  session: ZkSession,
  dependencies: ZkLockDependencies,
  options: Partial<ZkLockOptions> = {},
): LockStrategy {
  const { root = "/locks", ...runnerOptions } = options;
  const parts = { traits: zkMutexTraits, session, dependencies, options: runnerOptions };
  return createZkLock(parts, (context) => new QueueNode(context, { root, isFenced: false }));
}

/** Registration, listed in all-locks.ts. */
export const zkMutex: LockEntry = {
  traits: zkMutexTraits,
  create: (dependencies) => createZkMutex(dependencies.zookeeper(), dependencies),
};
