import { mkdirSync } from "node:fs";
import path from "node:path";
import { findRedis, probeRedis, startRedis } from "./redis";
import type { ServerKind } from "./server-kind";

const SERVERS = ["redlock-1", "redlock-2", "redlock-3", "redlock-4", "redlock-5"] as const;

/** Five Redis servers that know nothing of each other, for Redlock. */
export const redlock: ServerKind = {
  service: "redlock",
  title: "Redlock (5 Redis)",
  envName: "REDLOCK_URLS",
  ports: SERVERS,
  packages: { debian: ["redis-server"], brew: "redis" },
  find: findRedis,
  async probe(given) {
    const urls = given.split(",").map((url) => url.trim());
    const versions = await Promise.all(urls.map(probeRedis));
    return `${urls.length} servers, ${[...new Set(versions)].join(" and ")}`;
  },
  async start(context, found) {
    const urls = await Promise.all(
      SERVERS.map((name) => {
        const dataDir = path.join(context.dataDir, name);
        mkdirSync(dataDir, { recursive: true });
        return startRedis({ ...context, dataDir }, { name, binary: found.binary });
      }),
    );
    return urls.join(",");
  },
};
