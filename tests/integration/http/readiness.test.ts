import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { closeLockClients } from "../../../lib/node/lock-dependencies";
import { postgresPool } from "../../../lib/services/postgres";
import { startHotServer } from "../../support/hot-server";
import { requireEnv, setEnv } from "../../support/lab-env";
import { type OwnRedis, startOwnRedis } from "../../support/own-redis";
import { startTcpRelay, type TcpRelay } from "../../support/tcp-relay";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL");

interface Ready {
  readonly ready: boolean;
  readonly strategy: string;
  readonly postgres: string;
  readonly away: readonly string[];
}

describe("/readyz", () => {
  let redis: OwnRedis;
  let relay: TcpRelay;
  let server: Awaited<ReturnType<typeof startHotServer>>;

  before(async () => {
    redis = await startOwnRedis();
    const database = new URL(process.env.DATABASE_URL ?? "");
    relay = await startTcpRelay({ host: database.hostname, port: Number(database.port || 5432) });
    database.host = `127.0.0.1:${relay.port}`;
    setEnv({ DATABASE_URL: database.href, REDIS_URL: redis.url, LOCK_STRATEGY: "redis-lock", STORE_NODE: "probed" });
    server = await startHotServer();
  });
  after(async () => {
    await server.close();
    await closeLockClients();
    await relay.close();
    await postgresPool().end();
    await redis[Symbol.asyncDispose]();
  });

  const ask = async () => {
    const response = await fetch(`${server.url}/readyz`, { signal: AbortSignal.timeout(10_000) });
    return {
      status: response.status,
      retryAfter: response.headers.get("retry-after"),
      ...((await response.json()) as Ready),
    };
  };
  const becomes = (what: string, isSo: (ready: Ready) => boolean) =>
    waitUntil(async () => isSo(await ask()), { what, withinMs: 20_000 });

  it("is ready while PostgreSQL and the active strategy's server respond, even if other servers do not", async () => {
    const { status, ready, strategy, postgres, away } = await ask();
    assert.deepEqual(
      { status, ready, strategy, postgres, away },
      {
        status: 200,
        ready: true,
        strategy: "redis-lock",
        postgres: "up",
        away: [],
      },
    );
  });

  it("is not ready but alive while the strategy's server is down, and names that server", async () => {
    await redis.kill();
    await becomes("readiness to show that Redis is down", ({ ready }) => !ready);
    const { status, retryAfter, postgres, away } = await ask();
    assert.deepEqual(
      { status, retryAfter, postgres, away },
      { status: 503, retryAfter: "1", postgres: "up", away: ["Redis"] },
    );
    assert.equal((await fetch(`${server.url}/healthz`)).status, 200);
    await redis.start();
    await becomes("readiness to show that Redis is up", ({ ready }) => ready);
  });

  it("is not ready while PostgreSQL accepts requests but does not respond", async () => {
    relay.freeze();
    await becomes("readiness to show that PostgreSQL is down", ({ ready, postgres }) => !ready && postgres === "down");
    assert.equal((await ask()).status, 503);
  });
});
