import type { HandleContext } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { ZkLockHandle, type ZkLockNode, type ZkWatchEvent } from "./zk-lock-handle";
import type { ZkSession } from "./zk-port";

export interface ZkLockDependencies extends RunnerDependencies {
  /** Called once per woken waiter, to count the cost of a release. */
  readonly onWatchEvent?: (event: ZkWatchEvent) => void;
}

export interface ZkLockOptions extends RunnerOptions {
  /** Path under which each resource has a node. */
  readonly root: string;
}

export interface ZkLockSetup {
  readonly traits: StrategyTraits;
  readonly session: ZkSession;
  readonly dependencies: ZkLockDependencies;
  readonly options: Partial<RunnerOptions>;
}

/**
 * Longer than for other locks: giving up a try gives up the queue position, and the session detects an unresponsive
 * server itself.
 */
const DEFAULT_TRY_LIMIT_MS = 4_000;

/** Creates a lock whose holds end with the session that created them. */
export function createZkLock(setup: ZkLockSetup, nodeFor: (context: HandleContext) => ZkLockNode): LockStrategy {
  const { traits, session, dependencies, options } = setup;
  const { onWatchEvent } = dependencies;
  const backend = {
    traits,
    leaseKind: "session" as const,
    createHandle: (context: HandleContext) =>
      new ZkLockHandle({ strategyId: traits.id, session, context, node: nodeFor(context), onWatchEvent }),
  };
  return new LeaseRunner(backend, dependencies, { tryLimitMs: DEFAULT_TRY_LIMIT_MS, ...options });
}
