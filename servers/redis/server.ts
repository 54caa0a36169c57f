import { redisOptionsForSubscriber } from "../../lib/locks/redis/redis-options";
import { openRedisSession } from "../../lib/locks/redis/redis-session";
import { shareSubscriber } from "../../lib/locks/redis/redis-subscriber";
import { type Opening, once, type ServerKind } from "../server-kind";
import { openRedis } from "./open-redis";

/** One Redis, for the single-server strategies. */
export const redis = {
  id: "redis",
  label: "Redis",
  familyLabel: "Redis, one server",
  variable: "REDIS_URL",
  defaultPort: 6_379,
  greeting: "PING\r\n",
  quorum: "one",
  ports: { redis: { port: 16_379, offset: 20 } },
  packages: { debian: ["redis-server"], brew: "redis" },
  addressAt: (endpoints) => endpoints.map(({ host, port }) => `redis://${host}:${port}`).join(","),
  lockClients: (opening: Opening) => ({
    redis: once(() => openRedis(opening.address(), opening)),
    redisSubscriber: once(() => shareSubscriber(openRedis(opening.address(), opening, redisOptionsForSubscriber))),
    redisSession: () => openRedisSession(opening.address()),
  }),
} as const satisfies ServerKind;
