import type { BackoffPolicy } from "../backoff";
import { LockError } from "../errors";
import type { HandleContext, LeaseBackend, LockHandle } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { LockEntry } from "../lock-entry";
import type { RedisCommands } from "../redis/redis-port";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { Ballot } from "./ballot";

export const redlockTraits: StrategyTraits = {
  id: "redlock",
  family: "redlock",
  kind: "lock",
  mechanism: "SET NX PX on five independent servers at once; a majority in time grants, anything less is taken back.",
  remark: "quorum lease",
  needs: ["redlock"],
  waiting: "poll",
  fair: false,
  expiryClock: "server",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "breaks" },
};

export interface RedlockOptions extends RunnerOptions {
  /** Longest wait for one server's answer; never more than a tenth of the TTL. */
  readonly nodeLimitMs: number;
}

/** Sparser than for one server: two tries at the same moment split the votes and both have to start again. */
const REDLOCK_BACKOFF: BackoffPolicy = { minMs: 5, startMs: 50, growth: 2, perWaiterMs: 6, maxMs: 1_000 };
const DEFAULT_NODE_LIMIT_MS = 500;
/** Of the TTL: "far below" it, so that a dead server cannot use the lease up. */
const LARGEST_NODE_SHARE = 0.1;

class RedlockHandle implements LockHandle {
  readonly #context: HandleContext;
  readonly #servers: readonly RedisCommands[];
  readonly #nodeLimitMs: number;
  #ballot: Ballot | null = null;
  #tries = 0;
  /** Lost ballots being taken back; nobody waits for them but the release. */
  readonly #takingBack = new Set<Promise<unknown>>();

  constructor(context: HandleContext, servers: readonly RedisCommands[], nodeLimitMs: number) {
    this.#context = context;
    this.#servers = servers;
    this.#nodeLimitMs = Math.min(nodeLimitMs, context.ttlMs * LARGEST_NODE_SHARE);
  }

  async tryAcquire() {
    const { holderId } = this.#context;
    this.#tries += 1;
    const ballot = new Ballot(this.#context, {
      strategyId: redlockTraits.id,
      servers: this.#servers,
      value: this.#tries === 1 ? holderId : `${holderId}.${this.#tries}`,
      nodeLimitMs: this.#nodeLimitMs,
    });
    this.#ballot = ballot;
    const status = await ballot.hold();
    if (status === "held") {
      this.#ballot = null;
      this.#takeBack(ballot);
    }
    return { status };
  }

  async renew() {
    return this.#ballot ? this.#ballot.renew() : "lost";
  }

  async release(): Promise<"released" | "not_held"> {
    const current = this.#ballot ? this.#ballot.takeBack() : ("released" as const);
    const [released] = await Promise.all([current, ...this.#takingBack]);
    return released;
  }

  #takeBack(ballot: Ballot): void {
    const work = ballot.takeBack().finally(() => this.#takingBack.delete(work));
    this.#takingBack.add(work);
  }
}

/**
 * Redlock: the single-server lease taken on a majority of independent servers.
 *
 * All servers are asked at once, each within a limit far below the TTL; a majority grants, and the lease counts
 * from before the first request minus drift (the runner does both). Anything less is taken back wherever it may have
 * been applied, and tried again after a jittered pause, so that split votes drift apart. The watchdog
 * renews on a majority.
 *
 * Guarantees one holder at a time, and progress, with a minority of servers lost. A majority out of reach gives
 * `quorum_failed` with every server's vote, never a grant. A server restarted empty within a TTL, a wall clock that
 * jumps, and a holder paused past the TTL each let a second holder in. No fencing token: the servers
 * share no counter. The servers' clocks end the lease, so they must run at about the same rate.
 *
 * @throws {LockError} `quorum_failed`, `config_invalid`, `aborted`
 * @see https://redis.io/docs/latest/develop/use/patterns/distributed-locks/
 */
export function createRedlock(
  servers: readonly RedisCommands[],
  dependencies: RunnerDependencies,
  options: Partial<RedlockOptions> = {},
): LockStrategy {
  if (servers.length < 3 || servers.length % 2 === 0) {
    const message = `needs an odd number of independent servers, three or more; there are ${servers.length}`;
    const strategyId = redlockTraits.id;
    throw new LockError({ code: "config_invalid", strategyId, resource: "-", message, isDefinite: true });
  }
  const { nodeLimitMs = DEFAULT_NODE_LIMIT_MS, ...runnerOptions } = options;
  const backend: LeaseBackend = {
    traits: redlockTraits,
    leaseKind: "ttl",
    createHandle: (context) => new RedlockHandle(context, servers, nodeLimitMs),
  };
  return new LeaseRunner(backend, dependencies, { backoff: REDLOCK_BACKOFF, ...runnerOptions });
}

/** For the catalogue. */
export const redlock: LockEntry = {
  traits: redlockTraits,
  create: (dependencies) => createRedlock(dependencies.redlock(), dependencies),
};

declare module "../lock-entry" {
  interface LockDependencies {
    /** One client per independent server, in a fixed order, made with `redisOptionsForLocks`. */
    redlock(): readonly RedisCommands[];
  }
}
