import type { Grant, LockOutcome, LockRequest, LockStrategy } from "../../lib/locks/types";
import type { SimProcess } from "../world/process";
import type { World } from "../world/world";

interface Hold {
  readonly process: SimProcess;
  readonly grant: Grant;
}

/** Tracks which processes are inside their critical sections and checks exclusion and token order. One lock, one resource. */
export class HoldMonitor {
  readonly #world: World;
  readonly #held = new Set<Hold>();
  #lastToken: bigint | null = null;
  /** False in profiles where a server can lose its token counter. */
  readonly #tokensRise: boolean;
  readonly #isExclusive: boolean;
  grants = 0;
  overlaps = 0;

  constructor(world: World, expected: { readonly tokensRise: boolean; readonly isExclusive: boolean }) {
    this.#world = world;
    this.#tokensRise = expected.tokensRise;
    this.#isExclusive = expected.isExclusive;
  }

  /** Wraps the lock so that every critical section is tracked; one in ten re-enters the lock with `runNested`. */
  watch(process: SimProcess, lock: LockStrategy): LockStrategy {
    return {
      id: lock.id,
      traits: lock.traits,
      runGuarded: <T>(request: LockRequest, section: (grant: Grant) => Promise<T>): Promise<LockOutcome<T>> => {
        const isNested = this.#world.random.chance(0.1);
        return lock.runGuarded(request, (grant) =>
          this.#during({ process, grant }, () => (isNested ? grant.runNested(section) : section(grant))),
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
    try {
      return await section();
    } finally {
      this.#held.delete(hold);
      this.#world.trace(
        () => `${process.name}: leaves the critical section${grant.signal.aborted ? ", lock lost" : ""}`,
      );
    }
  }

  #checkToken({ fencingToken: token }: Grant): void {
    if (token === null) return;
    if (this.#tokensRise && this.#lastToken !== null && token <= this.#lastToken)
      this.#world.reportViolation("fencing-order", `token ${token} was granted after ${this.#lastToken}`);
    this.#lastToken = token;
  }
}
