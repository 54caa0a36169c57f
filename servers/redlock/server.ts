import { openRedis } from "../redis/open-redis";
import { type Opening, once, type ServerKind } from "../server-kind";

/** Five independent Redis servers, for Redlock. */
export const redlock = {
  id: "redlock",
  label: "Redlock",
  needsLabel: "five Redis servers",
  familyLabel: "Redis, five servers",
  variable: "REDLOCK_URLS",
  defaultPort: 6_379,
  greeting: "PING\r\n",
  quorum: "majority",
  ports: {
    "redlock-1": { port: 16_380, offset: 21 },
    "redlock-2": { port: 16_381, offset: 22 },
    "redlock-3": { port: 16_382, offset: 23 },
    "redlock-4": { port: 16_383, offset: 24 },
    "redlock-5": { port: 16_384, offset: 25 },
  },
  packages: { debian: ["redis-server"], brew: "redis" },
  addressAt: (endpoints) => endpoints.map(({ host, port }) => `redis://${host}:${port}`).join(","),
  lockClients: (opening: Opening) => ({
    redlock: once(() =>
      opening
        .address()
        .split(",")
        .map((url) => openRedis(url.trim(), opening)),
    ),
  }),
} as const satisfies ServerKind;
