import { releaseScript } from "../../lib/locks/redis/owner-scripts";
import { createRedisLock } from "../../lib/locks/redis/redis-lock";
import type { RedisCommands } from "../../lib/locks/redis/redis-port";
import { redisStrategy } from "../strategies/redis";
import type { Mutant } from "./mutant";

/** Releases with a plain DEL instead of the script that compares the holder. */
function withPlainDelete(client: RedisCommands): RedisCommands {
  return {
    call: (name, ...parameters) =>
      parameters[0] === releaseScript.sha1 ? client.call("DEL", parameters[2] ?? "") : client.call(name, ...parameters),
  };
}

export const releaseWithoutOwner: Mutant = {
  name: "release without owner check",
  strategy: redisStrategy("redis-lock", false, (client, dependencies) =>
    createRedisLock(withPlainDelete(client), dependencies),
  ),
  profile: "pause",
  breaks: "ownership",
};
