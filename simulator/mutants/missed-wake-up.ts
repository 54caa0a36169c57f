import type { RedisCommands } from "../../lib/locks/redis/redis-port";
import { createRedisReentrant } from "../../lib/locks/redis/redis-reentrant";
import { lockScript } from "../../lib/locks/redis/redisson-protocol";
import { redisPubSubStrategy } from "../strategies/redis";
import type { Mutant } from "./mutant";

const AN_HOUR_MS = 3_600_000;

/** Disables the fallback poll: the holder's remaining TTL is reported as an hour, so only a message ends the wait. */
function withoutFallback(client: RedisCommands): RedisCommands {
  return {
    call: async (name, ...parameters) => {
      const reply = await client.call(name, ...parameters);
      const isLock = parameters[0] === lockScript.sha1 || parameters[0] === lockScript.source;
      return isLock && reply !== null ? AN_HOUR_MS : reply;
    },
  };
}

export const missedWakeUp: Mutant = {
  name: "missed wake-up",
  strategy: redisPubSubStrategy("redis-reentrant", ({ commands, subscriber }, dependencies) =>
    createRedisReentrant({ commands: withoutFallback(commands), subscriber }, dependencies),
  ),
  profile: "benign",
  breaks: "liveness",
};
