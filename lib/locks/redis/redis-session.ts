import { redisAt } from "./redis-at";
import { redisOptionsForSession } from "./redis-options";
import type { RedisSession } from "./redis-port";

/** Opens an exclusive connection. It connects at the first command. */
export function openRedisSession(url: string): RedisSession {
  const client = redisAt(url, redisOptionsForSession);
  // Every failed command rejects, so the event needs no handling.
  client.on("error", () => {});
  let isClosed = false;
  return {
    get isLost() {
      return isClosed || client.status === "close" || client.status === "end";
    },
    call: (command, ...parameters) => client.call(command, ...parameters),
    close: () => {
      isClosed = true;
      client.disconnect();
    },
  };
}
