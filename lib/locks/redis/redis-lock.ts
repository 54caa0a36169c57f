import type { Contender, Contest, LeaseBackend } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { releaseScript, renewScript } from "./owner-scripts";
import type { RedisCommands } from "./redis-port";
import { asRedisError, type RedisScript, runScript } from "./script";

export const redisLockTraits: StrategyTraits = {
  id: "redis-lock",
  family: "redis",
  kind: "lock",
  mechanism: "SET key holder NX PX ttl; Lua compares the holder before it deletes or renews; watchdog at ttl/3.",
  remark: "lease",
  needs: ["redis"],
  waiting: "poll",
  fair: false,
  expiryClock: "server",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "breaks" },
};

class RedisLockContender implements Contender {
  readonly #client: RedisCommands;
  readonly #contest: Contest;
  /** False while it is certain that the server keeps nothing of ours. */
  #mayHold = false;

  constructor(client: RedisCommands, contest: Contest) {
    this.#client = client;
    this.#contest = contest;
  }

  async tryAcquire() {
    const { resource, holderId, ttlMs } = this.#contest;
    this.#mayHold = true;
    const reply = await this.#asked(this.#client.call("SET", resource, holderId, "NX", "PX", ttlMs));
    if (reply === "OK") return { status: "granted" } as const;
    this.#mayHold = false;
    return { status: "held" } as const;
  }

  async renew() {
    return (await this.#runOwned(renewScript, [this.#contest.ttlMs])) ? "renewed" : "lost";
  }

  async release() {
    if (!this.#mayHold) return "released";
    return (await this.#runOwned(releaseScript, [])) ? "released" : "not_held";
  }

  async #runOwned(script: RedisScript, values: number[]): Promise<boolean> {
    const { resource, holderId } = this.#contest;
    return (
      (await this.#asked(runScript(this.#client, script, { keys: [resource], values: [holderId, ...values] }))) === 1
    );
  }

  async #asked(command: Promise<unknown>): Promise<unknown> {
    try {
      return await command;
    } catch (error) {
      throw asRedisError(error, { strategyId: redisLockTraits.id, resource: this.#contest.resource });
    }
  }
}

/**
 * A lease in one Redis: `SET resource holderId NX PX ttlMs`, freed and renewed only by its holder.
 *
 * Guarantees one holder at a time while the server keeps its data and no holder outlives its lease unnoticed. A holder
 * paused past the TTL (the write may follow the pause) and a server restarted empty or failed over break it; a
 * holder's crash costs the others one TTL. Waiters poll with jitter and are served in no order.
 * No fencing token: guard the resource with `redis-fenced` where a pause must not cost an oversell.
 * The server's clock ends the lease; the caller's monotonic clock, minus drift, says when to stop believing in it.
 * The key is the resource as given and the value a random string, so redis-py's `Lock` shares it.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`
 * @see https://redis.io/docs/latest/commands/set/#patterns
 */
export function createRedisLock(
  client: RedisCommands,
  dependencies: RunnerDependencies,
  options: Partial<RunnerOptions> = {},
): LockStrategy {
  const backend: LeaseBackend = {
    traits: redisLockTraits,
    leaseKind: "ttl",
    enter: (contest) => new RedisLockContender(client, contest),
  };
  return new LeaseRunner(backend, dependencies, options);
}
