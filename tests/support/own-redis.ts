import { Redis } from "ioredis";
import { freePort } from "./free-port";
import { type OwnServer, startOwnServer } from "./own-server";

/** A redis-server of a test's own. Keeps its data in memory only: killed, it has forgotten everything. */
export interface OwnRedis extends OwnServer {
  readonly url: string;
  /** A client of the test's own, apart from the locks'. */
  readonly probe: Redis;
}

export async function startOwnRedis(): Promise<OwnRedis> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const probe = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => 20 });
  probe.on("error", () => {});
  const server = await startOwnServer({
    command: "redis-server",
    args: ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
    isReady: async () => {
      const [ping] = await Promise.allSettled([probe.ping()]);
      return ping.status === "fulfilled";
    },
  });
  return {
    ...server,
    url,
    probe,
    async [Symbol.asyncDispose]() {
      probe.disconnect();
      await server[Symbol.asyncDispose]();
    },
  };
}
