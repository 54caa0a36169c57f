import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { postgresPool } from "../../../lib/services/postgres";
import { startHotServer } from "../../support/hot-server";
import { requireEnv, setEnv } from "../../support/lab-env";
import { makeProduct } from "../../support/rows";
import { startTcpRelay, type TcpRelay } from "../../support/tcp-relay";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL");
const WAIT_LIMIT_MS = 1_500;
/** A purchase that gets its connection just before the wait limit has this long to read and write (lib/stock/stock-store.ts). */
const LAST_STATEMENT_MS = 2_000;

describe("a PostgreSQL that stops responding", () => {
  let relay: TcpRelay;
  let server: Awaited<ReturnType<typeof startHotServer>>;
  let productId: number;

  before(async () => {
    const url = new URL(process.env.DATABASE_URL ?? "");
    relay = await startTcpRelay({ host: url.hostname, port: Number(url.port || 5432) });
    url.host = `127.0.0.1:${relay.port}`;
    setEnv({
      DATABASE_URL: url.href,
      WAIT_TIMEOUT_MS: String(WAIT_LIMIT_MS),
      PG_POOL_SIZE: "2",
      LOCK_STRATEGY: "sql-guarded",
    });
    server = await startHotServer();
    productId = await makeProduct(100);
  });

  after(async () => {
    await server.close();
    await relay.close();
    await postgresPool().end();
  });

  const buy = async (id: number) => {
    const startedMs = performance.now();
    const response = await fetch(`${server.url}/api/products/${id}/reduce-stock`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"userId":"a"}',
      signal: AbortSignal.timeout(60_000),
    });
    const body = (await response.json()) as { error?: { code: string } };
    return { status: response.status, code: body.error?.code, tookMs: performance.now() - startedMs };
  };

  function assertInTime({ status, code, tookMs }: Awaited<ReturnType<typeof buy>>): void {
    // A generous margin for a busy machine: without a limit these requests would never end.
    const limitMs = WAIT_LIMIT_MS + LAST_STATEMENT_MS + 30_000;
    assert.ok(tookMs < limitMs, `expected an answer within ${limitMs} ms, found ${tookMs} ms`);
    assert.ok(
      (status === 504 && code === "outcome_unknown") || (status === 503 && code === "backend_unavailable"),
      `${status} ${code}`,
    );
  }

  it("answers 504 outcome_unknown for statements in flight and 503 for requests without a connection, in time", async () => {
    const seen = new Set<number>();
    // On a busy machine the pool may have no open connection at the freeze, so that no statement is in flight.
    const hasSeenBoth = async () => {
      relay.heal();
      await waitUntil(async () => (await buy(productId)).status === 201, { what: "a purchase before the freeze" });
      relay.freeze();
      const answers = await Promise.all(Array.from({ length: 6 }, () => buy(productId)));
      answers.forEach(assertInTime);
      for (const { status } of answers) seen.add(status);
      // The pool has two connections. Their two statements may have run, the others were never sent.
      return seen.has(504) && seen.has(503);
    };
    await waitUntil(hasSeenBoth, { what: "statements in flight at the freeze", withinMs: 90_000 });
  });

  it("answers 503 backend_unavailable if it must look the row up first", async () => {
    const { status, code } = await buy(2_000_000_000);
    assert.deepEqual({ status, code }, { status: 503, code: "backend_unavailable" });
  });
});
