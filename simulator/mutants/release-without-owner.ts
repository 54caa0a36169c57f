import { releaseScript } from "../../lib/locks/redis/owner-scripts";
import { createRedisLock } from "../../lib/locks/redis/redis-lock";
import { redisStrategy } from "../strategies/redis";
import type { Mutant } from "./mutant";
import { withScript } from "./mutated-script";

/** The release script deletes the lock without comparing the holder. */
const DELETE = `return redis.call("DEL", KEYS[1])`;

export const releaseWithoutOwner: Mutant = {
  name: "release without owner check",
  strategy: redisStrategy("redis-lock", false, (client, dependencies) =>
    createRedisLock(withScript(client, releaseScript, DELETE), dependencies),
  ),
  profile: "pause",
  breaks: "ownership",
};
