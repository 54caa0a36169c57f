import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { purchasesInFlight } from "../../../lib/http/admission";
import { currentNode } from "../../../lib/node/current-node";
import { closeLockClients } from "../../../lib/node/lock-dependencies";
import { metrics } from "../../../lib/services/metrics";
import { postgresPool } from "../../../lib/services/postgres";
import { startHotServer } from "../../support/hot-server";
import { requireEnv, setEnv } from "../../support/lab-env";
import { makeProduct, productFacts } from "../../support/rows";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL");
const BURST = 3;
const MAX_IN_FLIGHT = 4;
setEnv({
  STORE_NODE: "door",
  LOCK_STRATEGY: "sql-guarded",
  // So slow that no token refills during a test, however slow the machine is.
  BUYER_RATE_PER_SECOND: "0.01",
  BUYER_RATE_BURST: String(BURST),
  MAX_PURCHASES_PER_RESOURCE: String(MAX_IN_FLIGHT),
});

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly retryAfter: string | null;
}

describe("admission", () => {
  let server: Awaited<ReturnType<typeof startHotServer>>;
  before(async () => {
    server = await startHotServer();
  });
  after(async () => {
    await server.close();
    await closeLockClients();
    await postgresPool().end();
  });

  async function buy(id: number, userId: string, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(`${server.url}/api/products/${id}/reduce-stock`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ userId }),
    });
    const { error } = (await response.json()) as { error?: { code: string } };
    return { status: response.status, code: error?.code, retryAfter: response.headers.get("retry-after") };
  }

  function openRun(id: number, how: { runId: string; runKey: string; strategy: string; holdMs: number }): void {
    currentNode().assign({ ...how, target: { kind: "product", id }, ttlMs: 5_000, waitTimeoutMs: 10_000 });
  }

  it("sells a buyer a burst, then answers 429 with Retry-After, and still sells to other buyers", async () => {
    const id = await makeProduct(50);
    for (let i = 0; i < BURST; i += 1) assert.equal((await buy(id, "hasty")).status, 201);
    const refused = await buy(id, "hasty");
    assert.deepEqual({ status: refused.status, code: refused.code }, { status: 429, code: "rate_limited" });
    assert.ok(Number(refused.retryAfter) >= 1, `Retry-After: ${refused.retryAfter}`);
    assert.equal((await buy(id, "patient")).status, 201);
    assert.deepEqual(await productFacts(id), { stock: 50 - BURST - 1, orders: BURST + 1 });
  });

  it("exempts a run's load from the rate limit only if it sends the run's key for the run's target", async () => {
    const [id, other] = [await makeProduct(50), await makeProduct(50)];
    const runKey = "0123456789abcdef0123456789abcdef";
    openRun(id, { runId: "keyed", runKey, strategy: "sql-guarded", holdMs: 0 });
    const own = { "x-run-id": "keyed", "x-run-key": runKey };
    for (let i = 0; i < 4 * BURST; i += 1) assert.equal((await buy(id, "load", own)).status, 201);
    const statuses = async (target: number, userId: string, headers: Record<string, string>) => {
      const answers: number[] = [];
      for (let i = 0; i <= BURST; i += 1) answers.push((await buy(target, userId, headers)).status);
      return answers;
    };
    const limited = [...Array.from({ length: BURST }, () => 201), 429];
    assert.deepEqual(await statuses(id, "id-only", { "x-run-id": "keyed" }), limited);
    assert.deepEqual(await statuses(id, "wrong-key", { ...own, "x-run-key": runKey.replace("0", "1") }), limited);
    assert.deepEqual(await statuses(id, "id-as-key", { "x-run-id": "keyed", "x-run-key": "keyed" }), limited);
    assert.deepEqual(await statuses(other, "elsewhere", { "x-run-key": runKey }), limited);
    currentNode().close("keyed");
    assert.deepEqual(await statuses(id, "too-late", { "x-run-key": runKey }), limited);
  });

  it("rejects purchases above the limit per product with 503, and accepts more when earlier ones complete", async () => {
    const [id, other] = [await makeProduct(50), await makeProduct(50)];
    openRun(id, { runId: "slow", runKey: "slow-slow-slow-slow", strategy: "sql-guarded", holdMs: 0 });
    const refusedBefore = metrics().refusals.get("overloaded");
    // Blocks the admitted purchases until the row lock is released.
    const blocker = await postgresPool().connect();
    let first: Promise<Answer>[] = [];
    let late: Answer[] = [];
    try {
      await blocker.query("BEGIN");
      await blocker.query("SELECT FROM products WHERE id = $1 FOR UPDATE", [id]);
      first = Array.from({ length: MAX_IN_FLIGHT }, (_, i) => buy(id, `early-${i}`));
      await waitUntil(() => purchasesInFlight() === MAX_IN_FLIGHT, { what: "the maximum of purchases in flight" });
      late = await Promise.all(Array.from({ length: 6 }, (_, i) => buy(id, `late-${i}`)));
      assert.equal((await buy(other, "next-door")).status, 201, "expected another product to have its own limit");
    } finally {
      await blocker.query("ROLLBACK");
      blocker.release();
    }
    for (const answer of late) {
      assert.deepEqual(answer, { status: 503, code: "overloaded", retryAfter: "1" });
    }
    assert.deepEqual(
      (await Promise.all(first)).map(({ status }) => status),
      first.map(() => 201),
    );
    assert.equal((await buy(id, "after")).status, 201);
    assert.equal(purchasesInFlight(), 0);
    assert.equal(metrics().refusals.get("overloaded") - refusedBefore, late.length);
    assert.deepEqual(await productFacts(id), { stock: 50 - MAX_IN_FLIGHT - 1, orders: MAX_IN_FLIGHT + 1 });
    currentNode().close("slow");
  });
});
