import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { errorTable } from "../../../lib/http/error-table";
import { postgresPool } from "../../../lib/services/postgres";
import { requireEnv, setEnv } from "../../support/lab-env";
import { makeProduct, productFacts } from "../../support/rows";
import { buyAt, type ShopAnswer, type ShopNode, startShopNodes } from "../../support/shop-node";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL");
setEnv({ STORE_NODE: "sale-test" });

const STOCK = 100;
const BUYERS = 300;
const CLICKS = 3;
/** A buyer retries after this if a response allows it, or if there is no response. */
const RETRY_MS = 100;
const MAX_TRIES = 300;
/** Buyers who arrive before a node is killed. The others arrive after. */
const EARLY_BUYERS = 60;
/** Long enough that purchases are in flight when the node is killed. */
const HOLD_MS = "50";

interface Click {
  readonly buyerId: string;
  /** Every response to the click and its retries; the last one is definite. */
  readonly answers: readonly ShopAnswer[];
}

describe("sale of 100 units to 300 buyers with three clicks each, while one node is killed and restarted", () => {
  let nodes: readonly ShopNode[] = [];
  let productId = 0;
  let clicks: readonly Click[] = [];

  /** Retries at the next node until an answer is definite. Retrying is safe because of the idempotency key. */
  async function click(index: number): Promise<Click> {
    const buyerId = `buyer-${Math.floor(index / CLICKS)}`;
    const answers: ShopAnswer[] = [];
    for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
      const node = nodes[(index + attempt) % nodes.length] as ShopNode;
      const [outcome] = await Promise.allSettled([
        buyAt(node.url, { productId }, { userId: buyerId, key: `click-of-${buyerId}` }),
      ]);
      if (outcome.status === "fulfilled") {
        answers.push(outcome.value);
        const { status, headers } = outcome.value;
        if (status < 500 && !headers.has("retry-after")) return { buyerId, answers };
      }
      await delay(RETRY_MS);
    }
    throw new Error(
      `expected a definite answer for ${buyerId} within ${MAX_TRIES} tries, found ${answers.map(({ status }) => status)}`,
    );
  }

  before(async () => {
    nodes = await startShopNodes(["sale-a", "sale-b", "sale-c"], "sql-guarded", { env: { HOLD_MS } });
    productId = await makeProduct(STOCK, { limitPerUser: 1 });
    const [victim] = nodes;
    assert.ok(victim);
    const clicksOf = (from: number, to: number) =>
      Promise.all(Array.from({ length: (to - from) * CLICKS }, (_, index) => click(from * CLICKS + index)));
    const early = clicksOf(0, EARLY_BUYERS);
    await waitUntil(async () => (await productFacts(productId)).orders >= STOCK / 4, {
      what: "a quarter of the stock to be sold",
    });
    await victim.kill();
    const late = clicksOf(EARLY_BUYERS, BUYERS);
    await victim.start();
    clicks = [...(await early), ...(await late)];
  });
  after(async () => {
    await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    await postgresPool().end();
  });

  const orders = async () =>
    (
      await postgresPool().query<{ id: string; user_id: string; quantity: number }>(
        "SELECT id::text, user_id, quantity FROM orders WHERE product_id = $1",
        [productId],
      )
    ).rows;

  it("sells exactly 100 units, at most one to each buyer", async () => {
    const rows = await orders();
    assert.equal(rows.length, STOCK);
    assert.equal(new Set(rows.map(({ user_id }) => user_id)).size, STOCK);
    assert.equal((await productFacts(productId)).stock, 0);
  });

  it("stores every acknowledged order, and acknowledges every stored order", async () => {
    const rows = new Map((await orders()).map((row) => [row.id, row.user_id]));
    const acknowledged = clicks.flatMap(({ buyerId, answers }) =>
      answers.filter(({ status }) => status === 201).map(({ body }) => [body.order?.id ?? "", buyerId] as const),
    );
    for (const [orderId, buyerId] of acknowledged) assert.equal(rows.get(orderId), buyerId);
    assert.equal(new Set(acknowledged.map(([orderId]) => orderId)).size, STOCK);
  });

  it("gives all clicks of a buyer the same final answer", () => {
    const finalAnswers = new Map<string, Set<string>>();
    for (const { buyerId, answers } of clicks) {
      const last = answers.at(-1);
      const answersOfBuyer = finalAnswers.get(buyerId) ?? new Set();
      finalAnswers.set(
        buyerId,
        answersOfBuyer.add(`${last?.status} ${last?.body.order?.id ?? last?.body.error?.code}`),
      );
    }
    assert.equal(finalAnswers.size, BUYERS);
    for (const [buyerId, found] of finalAnswers)
      assert.equal(found.size, 1, `expected one final answer for ${buyerId}, found ${[...found].join(" and ")}`);
  });

  it("gives every rejection a declared error code with its status", () => {
    const rows: Readonly<Record<string, { readonly status: number }>> = errorTable;
    const rejections = clicks.flatMap(({ answers }) => answers).filter(({ status }) => status !== 201);
    assert.ok(rejections.length >= (BUYERS - STOCK) * CLICKS);
    for (const { status, body } of rejections)
      assert.equal(rows[body.error?.code ?? ""]?.status, status, JSON.stringify(body));
    assert.ok(!rejections.some(({ body }) => body.error?.code === "internal_error"));
  });
});
