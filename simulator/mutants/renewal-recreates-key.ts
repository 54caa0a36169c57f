import { renewScript } from "../../lib/locks/redis/owner-scripts";
import { createRedisLock } from "../../lib/locks/redis/redis-lock";
import { redisStrategy } from "../strategies/redis";
import type { Mutant } from "./mutant";
import { withScript } from "./mutated-script";

/** The renewal script creates the lock again if it is gone. A renewal that arrives after the release then blocks the others. */
const RECREATE = `
local holder = redis.call("GET", KEYS[1])
if holder == ARGV[1] or not holder then
  redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
  return 1
end
return 0
`;

export const renewalRecreatesKey: Mutant = {
  name: "renewal creates a removed key again",
  strategy: redisStrategy("redis-lock", false, (client, dependencies) =>
    createRedisLock(withScript(client, renewScript, RECREATE), dependencies),
  ),
  profile: "pause",
  breaks: "renewal-after-release",
};
