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
/** What a browser does about an answer that says "again", or none at all. */
const RETRY_MS = 100;
const MAX_TRIES = 300;
/** Buyers who come before a node is killed; the others come after. */
const EARLY_BUYERS = 60;
/** So long a purchase that some are under way when it is. */
const HOLD_MS = "50";

interface Click {
  readonly buyerId: string;
  /** Every answer the click got; the last one is definite. */
  readonly answers: readonly ShopAnswer[];
}

describe("a sale of 100 units to 300 buyers who each click three times, one node killed and restarted", () => {
  let nodes: readonly ShopNode[] = [];
  let productId = 0;
  let clicks: readonly Click[] = [];

  /** Again at the next node, until an answer is definite. The key is what makes that safe. */
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
    throw new Error(`${buyerId} never got a definite answer: ${answers.map(({ status }) => status)}`);
  }

  before(async () => {
    nodes = await startShopNodes(["sale-a", "sale-b", "sale-c"], "sql-guarded", { HOLD_MS });
    productId = await makeProduct(STOCK, { limitPerUser: 1 });
    const [victim] = nodes;
    assert.ok(victim);
    const clicksOf = (from: number, to: number) =>
      Promise.all(Array.from({ length: (to - from) * CLICKS }, (_, index) => click(from * CLICKS + index)));
    const early = clicksOf(0, EARLY_BUYERS);
    await waitUntil(async () => (await productFacts(productId)).orders >= STOCK / 4, { what: "a quarter to be sold" });
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

  it("sells exactly 100, and no buyer more than one", async () => {
    const rows = await orders();
    assert.equal(rows.length, STOCK);
    assert.equal(new Set(rows.map(({ user_id }) => user_id)).size, STOCK);
    assert.equal((await productFacts(productId)).stock, 0);
  });

  it("has every order it acknowledged, and acknowledged every order it has", async () => {
    const rows = new Map((await orders()).map((row) => [row.id, row.user_id]));
    const told = clicks.flatMap(({ buyerId, answers }) =>
      answers.filter(({ status }) => status === 201).map(({ body }) => [body.order?.id ?? "", buyerId] as const),
    );
    for (const [orderId, buyerId] of told) assert.equal(rows.get(orderId), buyerId);
    assert.equal(new Set(told.map(([orderId]) => orderId)).size, STOCK);
  });

  it("tells a buyer the same at each of his clicks", () => {
    const said = new Map<string, Set<string>>();
    for (const { buyerId, answers } of clicks) {
      const last = answers.at(-1);
      const words = said.get(buyerId) ?? new Set();
      said.set(buyerId, words.add(`${last?.status} ${last?.body.order?.id ?? last?.body.error?.code}`));
    }
    assert.equal(said.size, BUYERS);
    for (const [buyerId, words] of said) assert.equal(words.size, 1, `${buyerId}: ${[...words]}`);
  });

  it("gives a declared reason with every refusal", () => {
    const rows: Readonly<Record<string, { readonly status: number }>> = errorTable;
    const refusals = clicks.flatMap(({ answers }) => answers).filter(({ status }) => status !== 201);
    assert.ok(refusals.length >= (BUYERS - STOCK) * CLICKS);
    for (const { status, body } of refusals)
      assert.equal(rows[body.error?.code ?? ""]?.status, status, JSON.stringify(body));
    assert.ok(!refusals.some(({ body }) => body.error?.code === "internal_error"));
  });
});
