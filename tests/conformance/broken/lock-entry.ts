import type { LockDependencies, LockEntry } from "../../../lib/locks/create-lock";
import { LockError } from "../../../lib/locks/errors";
import type { HandleContext, LockHandle } from "../../../lib/locks/lease-backend";
import { LeaseRunner } from "../../../lib/locks/lease-runner";
import { type AcquireCommand, OwnedLockHandle } from "../../../lib/locks/redis/owned-lock-handle";
import { RedisCalls } from "../../../lib/locks/redis/redis-calls";
import { redisLockTraits } from "../../../lib/locks/redis/redis-lock";
import type { LockStrategy, StrategyTraits } from "../../../lib/locks/types";

/**
 * A Redis lock with the traits of `redis-lock` and one defect. `BROKEN_LOCK` names the defect, because workers are
 * separate processes and inherit the environment.
 */

const acquire: AcquireCommand = async (calls, { resource, holderId, ttlMs }) => {
  const reply = await calls.call("SET", resource, holderId, "NX", "PX", ttlMs);
  return { status: reply === "OK" ? "granted" : "held" };
};

interface Defect {
  /** Part of the name of the only case that must fail. */
  readonly caughtBy: string;
  readonly acquire?: AcquireCommand;
  readonly handle?: (own: LockHandle, work: { calls: RedisCalls; context: HandleContext }) => Partial<LockHandle>;
  readonly strategy?: (own: LockStrategy, dependencies: LockDependencies) => LockStrategy["runGuarded"];
  /** Runs before the lock is closed. */
  readonly beforeClose?: (dependencies: LockDependencies) => Promise<unknown>;
  readonly traits?: Partial<StrategyTraits>;
}

/** Resources whose section has thrown. */
const thrown = new Set<string>();

export const DEFECTS: Readonly<Record<string, Defect>> = {
  "release without owner check": {
    caughtBy: "does not release another hold after a pause",
    handle: (own, { calls, context }) => ({
      release: async () => {
        await calls.call("DEL", context.resource);
        return "released";
      },
      tryAcquire: (limits) => own.tryAcquire(limits),
    }),
  },
  "no release after a throw": {
    caughtBy: "is free again after a section that throws",
    strategy: (own) => (request, section) =>
      own.runGuarded(request, async (grant) => {
        const [settled] = await Promise.allSettled([section(grant)]);
        if (settled.status === "fulfilled") return settled.value;
        thrown.add(request.resource);
        throw settled.reason;
      }),
    handle: (own, { context }) => ({
      release: async () => (thrown.has(context.resource) ? "released" : own.release()),
    }),
  },
  "no exclusion": {
    caughtBy: "grants one holder at a time",
    acquire: async (calls, { resource, holderId, ttlMs }) => {
      await calls.call("SET", resource, holderId, "PX", ttlMs);
      return { status: "granted" };
    },
  },
  "no expiry": {
    caughtBy: "goes to the next caller after its holder was killed",
    acquire: async (calls, { resource, holderId }) => {
      const reply = await calls.call("SET", resource, holderId, "NX");
      return { status: reply === "OK" ? "granted" : "held" };
    },
    handle: () => ({ renew: async () => "renewed" }),
  },
  "a late grant that is kept": {
    caughtBy: "releases a lock that is granted after the caller stopped waiting",
    handle: (own) => {
      let isGranted = false;
      let isReleased = false;
      return {
        tryAcquire: async (limits) => {
          const reply = await own.tryAcquire(limits);
          isGranted = reply.status === "granted";
          return reply;
        },
        // Releases only a grant that it has seen, and only once.
        release: async () => {
          const mustRelease = isGranted && !isReleased;
          isReleased = true;
          return mustRelease ? own.release() : "released";
        },
      };
    },
  },
  "the same token for every hold": {
    caughtBy: "gives fencing tokens that rise",
    traits: { fencingSource: "a constant" },
    acquire: async (calls, context) => {
      const reply = await acquire(calls, context);
      return reply.status === "granted" ? { ...reply, fencingToken: 7n } : reply;
    },
  },
  "no loss detection": {
    caughtBy: "signals the loss to its holder",
    handle: () => ({ renew: async () => "renewed" }),
  },
  "contention reported for a lost server": {
    caughtBy: "reports a lost server to a waiter",
    strategy: (own) => async (request, section) => {
      try {
        return await own.runGuarded(request, section);
      } catch (error) {
        if (!(error instanceof LockError)) throw error;
        return { status: "contended", waitedMs: request.waitTimeoutMs, attempts: 1 };
      }
    },
  },
  "a call that waits for a silent server": {
    caughtBy: "ends each call within a second of its wait and section",
    strategy: (own, dependencies) => async (request, section) => {
      try {
        return await own.runGuarded(request, section);
      } finally {
        await Promise.allSettled([dependencies.redis().call("PING")]);
      }
    },
  },
  "a close that waits for a silent server": {
    caughtBy: "closes within",
    beforeClose: async (dependencies) => {
      const { clock } = dependencies;
      const answers = async () => {
        const [settled] = await Promise.allSettled([dependencies.redis().call("PING")]);
        return settled.status === "fulfilled";
      };
      const giveUpMs = clock.nowMs() + 12_000;
      while (clock.nowMs() < giveUpMs && !(await answers()));
    },
  },
  "a leaked timer": {
    caughtBy: "leaves no timer behind after a call",
    strategy:
      (own, { clock }) =>
      (request, section) => {
        // Longer than the case waits, and short because the process of the suite waits for it.
        clock.setTimer(10_000, () => {});
        return own.runGuarded(request, section);
      },
  },
};

const defect = DEFECTS[process.env.BROKEN_LOCK ?? ""];
const traits: StrategyTraits = { ...redisLockTraits, id: "broken-lock", ...defect?.traits };

export const entry: LockEntry = { traits, create: createBroken };

function createBroken(dependencies: LockDependencies): LockStrategy {
  const client = dependencies.redis();
  const createHandle = (context: HandleContext): LockHandle => {
    const calls = new RedisCalls(client, { strategyId: traits.id, resource: context.resource });
    const own = new OwnedLockHandle(calls, context, defect?.acquire ?? acquire);
    const whole: LockHandle = {
      tryAcquire: () => own.tryAcquire(),
      renew: () => own.renew() as Promise<"renewed" | "lost">,
      release: () => own.release() as Promise<"released" | "not_held">,
    };
    return { ...whole, ...defect?.handle?.(whole, { calls, context }) };
  };
  const runner = new LeaseRunner({ traits, leaseKind: "ttl", createHandle }, dependencies);
  return {
    id: runner.id,
    traits,
    runGuarded: defect?.strategy?.(runner, dependencies) ?? ((request, section) => runner.runGuarded(request, section)),
    [Symbol.asyncDispose]: async () => {
      await defect?.beforeClose?.(dependencies);
      await runner[Symbol.asyncDispose]();
    },
  };
}
