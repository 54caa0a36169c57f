import type { HandleContext, LeaseBackend, LockHandle } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { LockDependencies, LockEntry } from "../lock-entry";
import type { RunnerDependencies } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";

export const localMutexTraits: StrategyTraits = {
  id: "local-mutex",
  family: "baseline",
  kind: "lock",
  mechanism: "A first-come-first-served queue inside one process, like `synchronized` in Java.",
  remark: "one process only",
  needs: [],
  waiting: "queue",
  fair: true,
  expiryClock: "none",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "unsafe" },
  survives: { holderCrash: "survives", holderPause: "survives", serverRestart: "not-applicable" },
};

interface Waiter {
  wake: (() => void) | null;
}

/** The callers of one resource, holder first. A Set keeps arrival order and allows removal from the middle. */
type WaitQueue = Set<Waiter>;

/** The queues of one process, by resource. Mutexes that share them exclude each other. */
export type LocalQueues = Map<string, WaitQueue>;

declare module "../lock-entry" {
  interface LockDependencies {
    /** Shared by every mutex of the process. Absent: no other mutex uses these queues. */
    readonly localQueues?: LocalQueues;
  }
}

class LocalMutexHandle implements LockHandle {
  readonly #queues: LocalQueues;
  readonly #resource: string;
  readonly #waiter: Waiter = { wake: null };

  constructor(queues: LocalQueues, context: HandleContext) {
    this.#queues = queues;
    this.#resource = context.resource;
  }

  async tryAcquire() {
    const queue = this.#queues.get(this.#resource) ?? new Set();
    this.#queues.set(this.#resource, queue);
    queue.add(this.#waiter);
    const [first] = queue;
    return { status: first === this.#waiter ? "granted" : "held" } as const;
  }

  waitForTurn(signal: AbortSignal): Promise<void> {
    const [first] = this.#queues.get(this.#resource) ?? [];
    if (first === this.#waiter || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiter.wake = null;
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiter.wake = wake;
      signal.addEventListener("abort", wake, { once: true });
    });
  }

  async release() {
    const queue = this.#queues.get(this.#resource);
    if (!queue?.delete(this.#waiter)) return "not_held" as const;
    const [next] = queue;
    if (next) next.wake?.();
    else this.#queues.delete(this.#resource);
    return "released" as const;
  }
}

/**
 * A mutex inside one process.
 *
 * Mechanism: callers queue in memory; the first in the queue holds the lock.
 *
 * Guarantees mutual exclusion and arrival order within one process.
 * Broken by: a second process, because it has a separate queue. Nothing expires: a crash ends the process and its queue
 * together.
 * Fencing token: none. Clock: none. `ttlMs` applies only to a hold whose section left an operation in flight: it is
 * released after that time. Times in milliseconds.
 *
 * @throws {LockError} `config_invalid`, `aborted`
 * @see https://en.wikipedia.org/wiki/Lock_(computer_science)
 */
export function createLocalMutex({
  localQueues: queues = new Map(),
  ...dependencies
}: RunnerDependencies & Pick<LockDependencies, "localQueues">): LockStrategy {
  const backend: LeaseBackend = {
    traits: localMutexTraits,
    leaseKind: "none",
    createHandle: (context) => new LocalMutexHandle(queues, context),
  };
  return new LeaseRunner(backend, dependencies);
}

/** Registration, listed in all-locks.ts. */
export const localMutex: LockEntry = {
  traits: localMutexTraits,
  create: createLocalMutex,
};
