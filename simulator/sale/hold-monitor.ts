import type { Grant, LockOutcome, LockRequest, LockStrategy } from "../../lib/locks/types";
import type { SimProcess } from "../world/process";
import type { World } from "../world/world";

interface Hold {
  readonly process: SimProcess;
  readonly grant: Grant;
  readonly isStored: WatchedLock["isStored"];
}

/** How a process is watched. */
export interface WatchedLock {
  readonly lock: LockStrategy;
  /** Whether the servers store a lock of the process; absent if the servers cannot tell. */
  readonly isStored?: (() => boolean) | undefined;
}

interface Expected {
  readonly tokensRise: boolean;
  readonly isExclusive: boolean;
  readonly ttlMs: number;
}

/** Checks per lease that the servers still store the lock of a holder. */
const LOSS_CHECKS_PER_LEASE = 4;
/** Share of the lease by which clocks differ, and how late timers fire. */
const CLOCK_SHARE = 0.02;
const TIMERS_LATE_MS = 5;

/**
 * Tracks which processes are inside their critical sections and checks exclusion, token order and the detection of losses. One
 * lock, one resource.
 */
export class HoldMonitor {
  readonly #world: World;
  readonly #held = new Set<Hold>();
  #lastToken: bigint | null = null;
  /** False in profiles where a server can lose its token counter. */
  readonly #tokensRise: boolean;
  readonly #isExclusive: boolean;
  readonly #ttlMs: number;
  grants = 0;
  overlaps = 0;

  constructor(world: World, expected: Expected) {
    this.#world = world;
    this.#tokensRise = expected.tokensRise;
    this.#isExclusive = expected.isExclusive;
    this.#ttlMs = expected.ttlMs;
  }

  /** Wraps the lock so that every critical section is tracked; one in ten re-enters the lock with `runNested`. */
  watch(process: SimProcess, { lock, isStored }: WatchedLock): LockStrategy {
    return {
      id: lock.id,
      traits: lock.traits,
      runGuarded: <T>(request: LockRequest, section: (grant: Grant) => Promise<T>): Promise<LockOutcome<T>> => {
        const isNested = this.#world.random.chance(0.1);
        return lock.runGuarded(request, (grant) =>
          this.#during({ process, grant, isStored }, () => (isNested ? grant.runNested(section) : section(grant))),
        );
      },
      [Symbol.asyncDispose]: () => lock[Symbol.asyncDispose](),
    };
  }

  /** Reports two running processes that are both inside with a hold they have not detected as lost. */
  check(): void {
    let first: Hold | null = null;
    for (const hold of this.#held) {
      const { process, grant } = hold;
      if (process.isCrashed || process.isPaused || grant.signal.aborted) continue;
      if (first) {
        this.overlaps += 1;
        if (this.#isExclusive)
          this.#world.reportViolation(
            "mutual-exclusion",
            `${first.process.name} and ${process.name} hold the lock at the same time`,
          );
        return;
      }
      first = hold;
    }
  }

  async #during<T>(hold: Hold, section: () => Promise<T>): Promise<T> {
    const { process, grant } = hold;
    this.grants += 1;
    this.#world.trace(
      () => `${process.name}: lock granted to ${grant.holderId.slice(0, 8)}, token ${grant.fencingToken}`,
    );
    this.#checkToken(grant);
    this.#held.add(hold);
    this.check();
    this.#checkLoss(hold, null);
    try {
      return await section();
    } finally {
      this.#held.delete(hold);
      this.#world.trace(
        () => `${process.name}: leaves the critical section${grant.signal.aborted ? ", lock lost" : ""}`,
      );
    }
  }

  /**
   * A holder detects within one lease that the servers no longer store its lock: the last renewal that can have succeeded was sent
   * before, and its validity counts from then.
   */
  #checkLoss(hold: Hold, goneSinceMs: number | null): void {
    const { process, grant, isStored } = hold;
    const world = this.#world;
    if (!isStored || !this.#held.has(hold) || process.isCrashed || grant.signal.aborted) return;
    const since = isStored() ? null : (goneSinceMs ?? world.nowMs);
    const latestMs = this.#ttlMs * (1 + CLOCK_SHARE) + TIMERS_LATE_MS;
    if (since !== null && !process.isPaused && world.nowMs - since > latestMs) {
      const goneMs = (world.nowMs - since).toFixed(0);
      world.reportViolation("loss-detection", `${process.name} holds a lock that was gone ${goneMs} ms ago`);
      return;
    }
    const afterMs = this.#ttlMs / LOSS_CHECKS_PER_LEASE;
    world.schedule({ afterMs, run: () => this.#checkLoss(hold, since) });
  }

  #checkToken({ fencingToken: token }: Grant): void {
    if (token === null) return;
    if (this.#tokensRise && this.#lastToken !== null && token <= this.#lastToken)
      this.#world.reportViolation("fencing-order", `token ${token} was granted after ${this.#lastToken}`);
    this.#lastToken = token;
  }
}
