import { createMemcachedAdd } from "../../lib/locks/memcached/memcached-add";
import type { MemcachedCommands } from "../../lib/locks/memcached/memcached-port";
import type { RunnerDependencies, RunnerOptions } from "../../lib/locks/runner-context";
import type { LockStrategy } from "../../lib/locks/types";
import type { SimStrategy } from "../sale/scenario";
import { memcachedCommandsOver, SimMemcached } from "../servers/sim-memcached";
import { Link, type LinkLimits } from "../world/network";
import { drawClockRate } from "./clock-rate";

const LIMITS: LinkLimits = { silenceMs: 1_500, connectMs: 1_500, mayDeliverLate: true };
/** A lock of a crashed holder expires after seconds, so waiters poll less often than the default. */
const RUNNER_OPTIONS: Partial<RunnerOptions> = {
  backoff: { minMs: 10, startMs: 60, growth: 2, perWaiterMs: 60, maxMs: 500 },
};

type CreateLock = (client: MemcachedCommands, dependencies: RunnerDependencies) => LockStrategy;

export function memcachedStrategy(id: string, create: CreateLock): SimStrategy {
  return {
    id,
    ttlsMs: [300, 800],
    isFenced: false,
    // Two holds: the release of the first newcomer may be lost too.
    maxHoldAfterCrashMs: (ttlMs) => 2 * (Math.ceil(ttlMs / 1_000) + 3) * 1_000,
    build: (world, { conditions }) => {
      const server = new SimMemcached(world, "memcached", drawClockRate(world));
      return {
        servers: [server],
        open: (process, dependencies) => {
          const link = new Link(world, { process, server }, { conditions, limits: LIMITS });
          return { lock: create(memcachedCommandsOver(link, server), dependencies), links: [link] };
        },
      };
    },
  };
}

export const memcachedAdd = memcachedStrategy("memcached-add", (client, dependencies) =>
  createMemcachedAdd(client, dependencies, RUNNER_OPTIONS),
);
