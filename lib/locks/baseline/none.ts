import type { LeaseBackend } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";

export const noneTraits: StrategyTraits = {
  id: "none",
  family: "baseline",
  kind: "lock",
  mechanism: "No lock: everyone enters at once.",
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
 * No lock: every caller is granted at once.
 *
 * Guarantees nothing; it is the control that shows what the others are for. No fencing token, no clock, no server.
 * @throws {LockError} `config_invalid`, `aborted`
 */
export function createNone(dependencies: RunnerDependencies): LockStrategy {
  return new LeaseRunner(backend, dependencies);
}

/** Registration, listed in all-locks.ts. */
export const none: LockEntry = {
  traits: noneTraits,
  create: createNone,
};
