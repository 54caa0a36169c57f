import { ownerlessKey } from "../locks/redis/ownerless";
import { env } from "../services/current-env";
import { resourceOf } from "../stock/types";
import { type Fault, FaultMissed, type Injection } from "./fault";
import { killHolder } from "./kill-holder";
import { untilRestarted } from "./killed-node";
import { killedHolder } from "./matrix-sale";
import { setsExpirySeparately } from "./orphaned-lock";
import { withRedis } from "./redis-admin";

/** PTTL of a key that has no expiry. */
const NO_EXPIRY = -1;

/** Kills the node after SETNX has taken the lock and before the command that sets its expiry: the lock stays taken for ever. */
export const killBetweenSetnxExpire: Fault = {
  id: "kill-between-setnx-expire",
  stopsNode: true,
  does: "Kills the node (SIGKILL) after SETNX has taken the lock and before PEXPIRE gives it an expiry. The lab starts the node again.",
  proof: "the killed process's record; PTTL of the lock's key in Redis is -1; another purchase waited for the lock",
  defaultDurationMs: () => null,

  whyNotApplicable(run) {
    if (!setsExpirySeparately(run.traits)) return "it does not set the expiry of its lock in a second command";
    return killHolder.whyNotApplicable(run);
  },

  expectationOf: () => ({
    effect: "blocked",
    reason: "The lock of the killed holder has no expiry yet and stays taken until an operator breaks it.",
  }),

  matrixSale: killedHolder,

  async inject(injection) {
    const { node, atMs } = injection;
    const index = await node.armStop({ point: "before-expiry", atMs, durationMs: null });
    const { evidence, fromNs, toNs } = await untilRestarted(injection, index);
    const key = await keyWithoutExpiry(injection);
    const proof = `${node.name} was killed between SETNX and PEXPIRE: ${evidence}. PTTL ${key} was ${NO_EXPIRY}.`;
    return { fromNs, toNs, proof, killedNode: node.name };
  },

  whyUnproven: (...seen) => killHolder.whyUnproven?.(...seen) ?? null,
};

/** @throws FaultMissed if the lock's key has an expiry or is gone */
async function keyWithoutExpiry({ traits, target }: Injection): Promise<string> {
  const key = ownerlessKey(traits.id, resourceOf(target));
  const pttl = Number(await withRedis(env().REDIS_URL ?? "", (redis) => redis.call("PTTL", key)));
  if (pttl !== NO_EXPIRY) throw new FaultMissed(`PTTL ${key} was ${pttl}, so the lock is free or expires`);
  return key;
}
