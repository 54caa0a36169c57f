import type { HandleContext, LeaseBackend, LockHandle } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";

export const localMutexTraits: StrategyTraits = {
  id: "local-mutex",
  family: "baseline",
  kind: "lock",
  mechanism: "A first-come-first-served queue inside the process, as `synchronized` would be.",
  remark: "one process only",
  needs: [],
  waiting: "queue",
  fair: true,
  expiryClock: "none",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "unsafe" },
  survives: { holderCrash: "survives", holderPause: "survives", serverRestart: "not-applicable" },
};

interface Place {
  wake: (() => void) | null;
}

/** The places of one resource, holder first. A Set keeps the order of arrival and removes from the middle. */
type Line = Set<Place>;

class LocalMutexHandle implements LockHandle {
  readonly #lines: Map<string, Line>;
  readonly #resource: string;
  readonly #place: Place = { wake: null };

  constructor(lines: Map<string, Line>, context: HandleContext) {
    this.#lines = lines;
    this.#resource = context.resource;
  }

  async tryAcquire() {
    const line = this.#lines.get(this.#resource) ?? new Set();
    this.#lines.set(this.#resource, line);
    line.add(this.#place);
    const [first] = line;
    return { status: first === this.#place ? "granted" : "held" } as const;
  }

  waitForTurn(signal: AbortSignal): Promise<void> {
    const [first] = this.#lines.get(this.#resource) ?? [];
    if (first === this.#place || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#place.wake = null;
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#place.wake = wake;
      signal.addEventListener("abort", wake, { once: true });
    });
  }

  async release() {
    const line = this.#lines.get(this.#resource);
    if (!line?.delete(this.#place)) return "not_held" as const;
    const [next] = line;
    if (next) next.wake?.();
    else this.#lines.delete(this.#resource);
    return "released" as const;
  }
}

/**
 * A mutex inside the process: callers queue, the first in line holds.
 *
 * Guarantees mutual exclusion and arrival order within one process; a second process breaks it at once, since neither
 * knows of the other. Nothing expires: the process and its queue die together. No fencing token, no clock, no server.
 * @throws {LockError} `config_invalid`, `aborted`
 */
export function createLocalMutex(dependencies: RunnerDependencies): LockStrategy {
  const lines = new Map<string, Line>();
  const backend: LeaseBackend = {
    traits: localMutexTraits,
    leaseKind: "none",
    createHandle: (context) => new LocalMutexHandle(lines, context),
  };
  return new LeaseRunner(backend, dependencies);
}

/** Registration, listed in all-locks.ts. */
export const localMutex: LockEntry = {
  traits: localMutexTraits,
  create: createLocalMutex,
};
