import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Redis } from "ioredis";
import { movableClock } from "../../servers/redlock/movable-clock";
import { freePort } from "./free-port";
import { type OwnServer, startOwnServer } from "./own-server";

/** A separate redis-server for a test. It keeps data only in memory, so a restart deletes it. */
export interface OwnRedis extends OwnServer {
  readonly url: string;
  /** A client for the test, separate from the clients of the locks. */
  readonly probe: Redis;
}

export async function startOwnRedis({ isSupervised = false, hasMovableClock = false } = {}): Promise<OwnRedis> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const probe = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => 20 });
  probe.on("error", () => {});
  const dir = await mkdtemp(path.join(tmpdir(), "flash-sale-lab-redis-"));
  const server = await startOwnServer({
    command: "redis-server",
    args: ["--port", String(port), "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "no"],
    env: hasMovableClock ? await movableClock(dir) : {},
    isSupervised,
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
      await rm(dir, { recursive: true, force: true });
    },
  };
}
