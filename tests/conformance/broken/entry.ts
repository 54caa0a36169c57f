import type { LockDependencies, LockEntry } from "../../../lib/locks/create-lock";
import { LockError } from "../../../lib/locks/errors";
import type { HandleContext, LockHandle } from "../../../lib/locks/lease-backend";
import { LeaseRunner } from "../../../lib/locks/lease-runner";
import { type AcquireCommand, OwnedLockHandle } from "../../../lib/locks/redis/owned-lock-handle";
import { RedisCalls } from "../../../lib/locks/redis/redis-calls";
import { redisLockTraits } from "../../../lib/locks/redis/redis-lock";
import type { LockStrategy, StrategyTraits } from "../../../lib/locks/types";

/**
 * A lock in Redis that promises what `redis-lock` does, with one thing wrong. Which one, `BROKEN_LOCK` says: workers are
 * other processes, and inherit it.
 */

const acquire: AcquireCommand = async (calls, { resource, holderId, ttlMs }) => {
  const reply = await calls.call("SET", resource, holderId, "NX", "PX", ttlMs);
  return { status: reply === "OK" ? "granted" : "held" };
};

interface Fault {
  /** The part of a case's name that is to fail, and no other. */
  readonly caughtBy: string;
  readonly acquire?: AcquireCommand;
  readonly handle?: (own: LockHandle, work: { calls: RedisCalls; context: HandleContext }) => Partial<LockHandle>;
  readonly strategy?: (own: LockStrategy, dependencies: LockDependencies) => LockStrategy["runGuarded"];
  readonly traits?: Partial<StrategyTraits>;
}

/** Resources whose section has thrown. */
const thrown = new Set<string>();

export const FAULTS: Readonly<Record<string, Fault>> = {
  "release without owner check": {
    caughtBy: "frees nobody else's hold after a pause",
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
    caughtBy: "lets one in at a time",
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
  "a late grant is kept": {
    caughtBy: "gives back what it is granted after it has stopped waiting",
    handle: (own) => {
      let isGranted = false;
      let isReleased = false;
      return {
        tryAcquire: async (limits) => {
          const reply = await own.tryAcquire(limits);
          isGranted = reply.status === "granted";
          return reply;
        },
        // Only what it knows of, and only once.
        release: async () => {
          const isToDo = isGranted && !isReleased;
          isReleased = true;
          return isToDo ? own.release() : "released";
        },
      };
    },
  },
  "the same token for all": {
    caughtBy: "gives fencing tokens that rise",
    traits: { fencingSource: "a constant" },
    acquire: async (calls, context) => {
      const reply = await acquire(calls, context);
      return reply.status === "granted" ? { ...reply, fencingToken: 7n } : reply;
    },
  },
  "deaf to the loss of its lease": {
    caughtBy: "tells its holder that the hold is lost",
    handle: () => ({ renew: async () => "renewed" }),
  },
  "a lost server passes for contention": {
    caughtBy: "tells a waiter of a lost server",
    strategy: (own) => async (request, section) => {
      try {
        return await own.runGuarded(request, section);
      } catch (error) {
        if (!(error instanceof LockError)) throw error;
        return { status: "contended", waitedMs: request.waitTimeoutMs, attempts: 1 };
      }
    },
  },
  "a timer that stays": {
    caughtBy: "leaves no timer behind when a call is over",
    strategy:
      (own, { clock }) =>
      (request, section) => {
        clock.setTimer(60_000, () => {});
        return own.runGuarded(request, section);
      },
  },
};

const fault = FAULTS[process.env.BROKEN_LOCK ?? ""];
const traits: StrategyTraits = { ...redisLockTraits, id: "broken-lock", ...fault?.traits };

export const entry: LockEntry = { traits, create: createBroken };

function createBroken(dependencies: LockDependencies): LockStrategy {
  const client = dependencies.redis();
  const createHandle = (context: HandleContext): LockHandle => {
    const calls = new RedisCalls(client, { strategyId: traits.id, resource: context.resource });
    const own = new OwnedLockHandle(calls, context, fault?.acquire ?? acquire);
    const whole: LockHandle = {
      tryAcquire: () => own.tryAcquire(),
      renew: () => own.renew() as Promise<"renewed" | "lost">,
      release: () => own.release() as Promise<"released" | "not_held">,
    };
    return { ...whole, ...fault?.handle?.(whole, { calls, context }) };
  };
  const runner = new LeaseRunner({ traits, leaseKind: "ttl", createHandle }, dependencies);
  return {
    id: runner.id,
    traits,
    runGuarded: fault?.strategy?.(runner, dependencies) ?? ((request, section) => runner.runGuarded(request, section)),
    [Symbol.asyncDispose]: () => runner[Symbol.asyncDispose](),
  };
}
