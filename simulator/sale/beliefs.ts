import type { Grant, LockOutcome, LockRequest, LockStrategy } from "../../lib/locks/types";
import type { SimProcess } from "../world/process";
import type { World } from "../world/world";

interface Belief {
  readonly process: SimProcess;
  readonly grant: Grant;
}

/** Who believes to hold, and every grant in its order. One lock, one resource. */
export class Beliefs {
  readonly #world: World;
  readonly #held = new Set<Belief>();
  #lastToken: bigint | null = null;
  /** False where a server may forget its tokens. */
  readonly #tokensRise: boolean;
  readonly #isExclusive: boolean;
  grants = 0;
  overlaps = 0;

  constructor(world: World, promises: { readonly tokensRise: boolean; readonly isExclusive: boolean }) {
    this.#world = world;
    this.#tokensRise = promises.tokensRise;
    this.#isExclusive = promises.isExclusive;
  }

  /** The lock, with its critical sections watched; every third one is nested in its own hold. */
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

  /** Two that run and were told of no loss must not both believe. */
  check(): void {
    let first: Belief | null = null;
    for (const belief of this.#held) {
      const { process, grant } = belief;
      if (process.isCrashed || process.isPaused || grant.signal.aborted) continue;
      if (first) {
        this.overlaps += 1;
        if (this.#isExclusive)
          this.#world.violate(
            "mutual-exclusion",
            `${first.process.name} and ${process.name} both believe that they hold`,
          );
        return;
      }
      first = belief;
    }
  }

  async #during<T>(belief: Belief, section: () => Promise<T>): Promise<T> {
    const { process, grant } = belief;
    this.grants += 1;
    this.#world.say(() => `${process.name}: granted to ${grant.holderId.slice(0, 8)}, token ${grant.fencingToken}`);
    this.#noteToken(grant);
    this.#held.add(belief);
    this.check();
    try {
      return await section();
    } finally {
      this.#held.delete(belief);
      this.#world.say(() => `${process.name}: section over${grant.signal.aborted ? ", hold lost" : ""}`);
    }
  }

  #noteToken({ fencingToken: token }: Grant): void {
    if (token === null) return;
    if (this.#tokensRise && this.#lastToken !== null && token <= this.#lastToken)
      this.#world.violate("fencing-order", `token ${token} was granted after ${this.#lastToken}`);
    this.#lastToken = token;
  }
}
