import type { APIRequestContext } from "@playwright/test";
import { expect, test } from "./lab";
import { openProduct, parts } from "./shop-pages";

/** The shop during a run: a visitor buys the run's product or claims its coupon. */

interface OpenRun {
  readonly id: string;
  readonly target: { readonly kind: "product" | "coupon"; readonly id: number };
}

interface RunOptions {
  readonly kind?: "product" | "coupon";
  readonly strategy?: string;
  readonly stock: number;
  /** Number of purchases that the test sends itself. */
  readonly sends?: number;
}

/** Opens a run without a load generator, calls `use`, and always finishes the run. */
async function withRun(
  request: APIRequestContext,
  { kind = "product", strategy = "sql-guarded", stock, sends = 0 }: RunOptions,
  use: (run: OpenRun) => Promise<void>,
): Promise<Record<string, unknown>> {
  const data = { strategy, stock, target: { kind }, vus: Math.max(1, sends), holdMs: 20, engine: "external" };
  const opened = await request.post("/api/runs", { data });
  expect(opened.status(), await opened.text()).toBe(201);
  const run = (await opened.json()) as OpenRun;
  const noLatency = { p50: null, p90: null, p95: null, p99: null, p999: null, max: null };
  const client = { engine: "test", iterations: sends, droppedIterations: 0, latencyMs: noLatency };
  try {
    await use(run);
  } finally {
    await request.post(`/api/runs/${run.id}/finish`, { data: { client } });
  }
  return (await (await request.get(`/api/runs/${run.id}`)).json()) as Record<string, unknown>;
}

test("a late buyer sees that the product is sold out, after a click and after a poll", async ({
  page,
  request,
  expectedErrors,
}) => {
  expectedErrors.push(/status of 409/);
  await withRun(request, { stock: 1 }, async ({ target }) => {
    const { buy, note, state } = parts(page);
    const stale = await (await request.get(`/api/products/${target.id}`)).json();
    await page.route(`**/api/products/${target.id}`, (route) => route.fulfill({ json: stale }));
    await openProduct(page, target.id);
    const taken = await request.post(`/api/products/${target.id}/reduce-stock`, { data: { userId: "other-buyer" } });
    expect(taken.status()).toBe(201);
    await buy.click();
    await expect(note).toContainText("Sold out. Another buyer got the last unit.");
    await page.unroute(`**/api/products/${target.id}`);
    await expect(state).toContainText("Sold out.");
    await expect(buy).toBeDisabled();
  });
});

test("a coupon is claimed once, even from a page with old data", async ({ page, request, expectedErrors }) => {
  expectedErrors.push(/status of 409/);
  await withRun(request, { kind: "coupon", stock: 3 }, async ({ target }) => {
    const claim = page.getByTestId("claim");
    const open = async () => {
      const known = page.waitForResponse((response) => response.url().endsWith("/api/orders") && response.ok());
      await page.goto(`/shop/coupons/${target.id}`);
      await known;
    };
    await open();
    await claim.click();
    await expect(page.getByText("You have claimed this coupon.")).toBeVisible();
    await open();
    await expect(claim).toHaveText("Claimed");
    await expect(claim).toBeDisabled();

    await page.route("**/api/orders", (route) => route.fulfill({ json: { orders: [], claims: [] } }));
    await open();
    await claim.click();
    await expect(page.getByText("You have already claimed this coupon.")).toBeVisible();
  });
});

test("a visitor buys in a run, sees the serving node, and the verdict counts the purchase", async ({
  page,
  request,
}) => {
  const sends = 12;
  const { nodes } = (await (await request.get("/api/strategies")).json()) as { nodes: { name: string; url: string }[] };
  const document = await withRun(
    request,
    { strategy: "redis-lock", stock: sends + 2, sends },
    async ({ id, target }) => {
      await page.goto("/");
      await page.getByRole("link", { name: "Join this sale" }).click();
      await expect(page).toHaveURL(new RegExp(`/shop/products/${target.id}$`));
      const { buy, served } = parts(page);
      await expect(page.getByText("A run is active")).toBeVisible();
      const crowd = Array.from({ length: sends }, (_, buyer) =>
        request.post(`${nodes[buyer % nodes.length]?.url}/api/products/${target.id}/reduce-stock`, {
          data: { userId: `buyer-${buyer}` },
          headers: { "x-run-id": id },
        }),
      );
      await buy.click();
      for (const answer of await Promise.all(crowd)) expect(answer.status()).toBe(201);
      await expect(served).toContainText(/node-\d/);
      await expect(served).toContainText("redis-lock");
      await expect(parts(page).status).toHaveText("Waiting for payment");
    },
  );
  expect(document).toMatchObject({
    verdict: "safe",
    visitors: 1,
    counts: { requests: sends + 1, sold: sends + 1 },
    stock: { initial: sends + 2, final: 1, orders: sends + 1 },
    agreement: { counted: sends, flags: [] },
  });
});
