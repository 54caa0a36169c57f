import { createRedisReentrant } from "../../lib/locks/redis/redis-reentrant";
import { unlockScript } from "../../lib/locks/redis/redisson-protocol";
import { redisPubSubStrategy } from "../strategies/redis";
import type { Mutant } from "./mutant";
import { withScript } from "./mutated-script";

/** The unlock script decrements the hold count without checking that the lock is the caller's. */
const WITHOUT_CHECK = `
if redis.call("HINCRBY", KEYS[1], ARGV[3], -1) > 0 then
  redis.call("PEXPIRE", KEYS[1], ARGV[2])
  return 0
end
redis.call("DEL", KEYS[1])
redis.call("PUBLISH", KEYS[2], ARGV[1])
return 1
`;

export const unlockWithoutOwner: Mutant = {
  name: "unlock without owner check",
  strategy: redisPubSubStrategy("redis-reentrant", ({ commands, subscriber }, dependencies) =>
    createRedisReentrant({ commands: withScript(commands, unlockScript, WITHOUT_CHECK), subscriber }, dependencies),
  ),
  profile: "pause",
  breaks: "ownership",
};
