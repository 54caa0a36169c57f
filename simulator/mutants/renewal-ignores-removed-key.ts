import { renewScript } from "../../lib/locks/redis/owner-scripts";
import { createRedisLock } from "../../lib/locks/redis/redis-lock";
import { redisStrategy } from "../strategies/redis";
import type { Mutant } from "./mutant";
import { withScript } from "./mutated-script";

/** The renewal script reports success although the lock is gone, for example after a restart without data. */
const IGNORE = `
if redis.call("GET", KEYS[1]) == ARGV[1] then
  redis.call("PEXPIRE", KEYS[1], ARGV[2])
end
return 1
`;

export const renewalIgnoresRemovedKey: Mutant = {
  name: "renewal ignores a removed key",
  strategy: redisStrategy("redis-lock", false, (client, dependencies) =>
    createRedisLock(withScript(client, renewScript, IGNORE), dependencies),
  ),
  profile: "amnesia",
  breaks: "loss-detection",
};
