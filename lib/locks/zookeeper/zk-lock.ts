import type { HandleContext } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { ZkLockHandle, type ZkLockNode, type ZkWatchEvent } from "./zk-lock-handle";
import type { ZkSession } from "./zk-port";

export interface ZkLockDependencies extends RunnerDependencies {
  /** For whoever counts what a release costs: one event a waiter that is woken. */
  readonly onWatchEvent?: (event: ZkWatchEvent) => void;
}

export interface ZkLockOptions extends RunnerOptions {
  /** Node under which every resource has one of its own. */
  readonly root: string;
}

export interface ZkLockSetup {
  readonly traits: StrategyTraits;
  readonly session: ZkSession;
  readonly dependencies: ZkLockDependencies;
  readonly options: Partial<RunnerOptions>;
}

/** Longer than elsewhere: giving a try up gives the place up, and the session notices silence by itself. */
const DEFAULT_TRY_LIMIT_MS = 4_000;

/** A lock whose holds last as long as the session that made them. */
export function createZkLock(parts: ZkLockSetup, claimFor: (context: HandleContext) => ZkLockNode): LockStrategy {
  const { traits, session, dependencies, options } = parts;
  const { onWatchEvent } = dependencies;
  const backend = {
    traits,
    leaseKind: "session" as const,
    createHandle: (context: HandleContext) =>
      new ZkLockHandle({ strategyId: traits.id, session, context, claim: claimFor(context), onWatchEvent }),
  };
  return new LeaseRunner(backend, dependencies, { tryLimitMs: DEFAULT_TRY_LIMIT_MS, ...options });
}
