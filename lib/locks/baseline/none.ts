import type { LeaseBackend } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";

export const noneTraits: StrategyTraits = {
  id: "none",
  family: "baseline",
  kind: "lock",
  mechanism: "No lock: every caller enters at once.",
  remark: "unsafe",
  needs: [],
  waiting: "none",
  fair: false,
  expiryClock: "none",
  fencingSource: null,
  expected: { alone: "unsafe", threeNodes: "unsafe" },
  survives: { holderCrash: "not-applicable", holderPause: "not-applicable", serverRestart: "not-applicable" },
};

const backend: LeaseBackend = {
  traits: noneTraits,
  leaseKind: "none",
  createHandle: () => ({
    tryAcquire: async () => ({ status: "granted" }),
    release: async () => "released",
  }),
};

/**
 * No lock.
 *
 * Mechanism: every caller is granted at once.
 *
 * Guarantees nothing. It is the control that shows what the other strategies prevent.
 * Broken by: any two concurrent callers.
 * Fencing token: none. Clock: none; `ttlMs` does not apply. Times in milliseconds.
 *
 * @throws {LockError} `config_invalid`, `aborted`
 * @see https://en.wikipedia.org/wiki/Race_condition
 */
export function createNone(dependencies: RunnerDependencies): LockStrategy {
  return new LeaseRunner(backend, dependencies);
}

/** Registration, listed in all-locks.ts. */
export const none: LockEntry = {
  traits: noneTraits,
  create: createNone,
};
