import AxeBuilder from "@axe-core/playwright";
import type { APIRequestContext, Page } from "@playwright/test";
import { lowContrast } from "./contrast";
import { expect, test } from "./lab";

/** The shop in a browser. Every test is a new visitor without a cookie. */

interface Product {
  readonly id: number;
  readonly slug: string;
  readonly stock: number;
}

async function productOf(request: APIRequestContext, slug: string): Promise<Product> {
  const { products } = (await (await request.get("/api/products")).json()) as { products: Product[] };
  const product = products.find((one) => one.slug === slug);
  if (product === undefined) throw new Error(`the shop has no product ${slug}; run the seed again`);
  return product;
}

async function stockOf(request: APIRequestContext, id: number): Promise<number> {
  const { product } = (await (await request.get(`/api/products/${id}`)).json()) as { product: Product };
  return product.stock;
}

/** Parts of a product page. */
function parts(page: Page) {
  return {
    buy: page.getByTestId("buy"),
    left: page.getByTestId("left"),
    state: page.getByTestId("offer-state"),
    note: page.getByTestId("note").first(),
    served: page.getByTestId("served-by"),
    orders: page.getByTestId("order"),
    status: page.getByTestId("order-status"),
  };
}

/** Opens a product and waits until the shop has identified the visitor, which implies that React has hydrated the page. */
async function openProduct(page: Page, id: number): Promise<void> {
  const known = page.waitForResponse((response) => response.url().endsWith("/api/orders") && response.ok());
  await page.goto(`/shop/products/${id}`);
  await known;
}

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

test("three clicks create one order, which survives a failed payment and is then paid", async ({
  page,
  request,
  expectedErrors,
}) => {
  expectedErrors.push(/status of 402/);
  const { id } = await productOf(request, "cast-iron-skillet");
  await openProduct(page, id);
  const { buy, served, orders, status, left } = parts(page);
  const before = await stockOf(request, id);
  await buy.evaluate((button: HTMLButtonElement) => {
    for (let clicks = 0; clicks < 3; clicks += 1) button.click();
  });
  await expect(served).toContainText(/node-\d/);
  await expect(orders).toHaveCount(1);
  await expect(status).toHaveText("Waiting for payment");
  await expect(orders.first()).toContainText(/Pay within\s*\d+:\d\d/);
  await expect(left).toHaveText(String(before - 1));
  expect(Number(await page.getByTestId("reserved").innerText())).toBeGreaterThan(0);

  await page.getByRole("button", { name: "Simulate failed payment" }).click();
  await expect(orders.first()).toContainText("The payment failed");
  await expect(orders.first()).toContainText("1 failed payment");
  await page.getByRole("button", { name: /^Pay €/ }).click();
  await expect(status).toHaveText("Paid");
  await page.getByRole("link", { name: "My orders" }).click();
  await expect(page.getByTestId("order-status")).toHaveText(["Paid"]);
});

test("a cancelled order returns its unit to the stock", async ({ page, request }) => {
  const { id } = await productOf(request, "mechanical-keyboard");
  await openProduct(page, id);
  const before = await stockOf(request, id);
  const { buy, orders, status, left } = parts(page);
  await buy.click();
  await expect(left).toHaveText(String(before - 1));
  await orders.getByRole("button", { name: "Cancel" }).click();
  await expect(status).toHaveText("Cancelled");
  await expect(left).toHaveText(String(before));
});

test("a lost response is retried with the same key, also after a reload, and sells once", async ({
  page,
  request,
  expectedErrors,
}) => {
  expectedErrors.push(/ERR_FAILED/);
  const { id } = await productOf(request, "cast-iron-skillet");
  const keys = new Set<string | undefined>();
  let isLosing = true;
  await page.route("**/reduce-stock", async (route) => {
    // The shop processes the first request, but its response is dropped.
    if (keys.size === 0) await route.fetch();
    keys.add(route.request().headers()["idempotency-key"]);
    await (isLosing ? route.abort() : route.continue());
  });
  await openProduct(page, id);
  const { buy, note, served, orders } = parts(page);
  await buy.click();
  await expect(note).toContainText("may have gone through");
  await page.reload();
  await expect(note).toContainText("may have gone through");
  isLosing = false;
  await expect(served).toContainText("repeat of the first one");
  await expect(orders).toHaveCount(1);
  expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
});

test("the buy button becomes active at the opening time", async ({ page, request }) => {
  const { id } = await productOf(request, "trail-running-shoes");
  await openProduct(page, id);
  const { buy, state, left, orders } = parts(page);
  try {
    await page.getByLabel("Open the sale").selectOption("in 10 seconds");
    await page.getByRole("button", { name: "Set", exact: true }).click();
    await expect(state).toContainText("Not open yet");
    await expect(left).toHaveText(/^0:\d\d$/);
    await expect(buy).toBeDisabled();
    await expect(buy).toBeEnabled({ timeout: 20_000 });
    await buy.click();
    await orders.getByRole("button", { name: "Cancel" }).click();
    await expect(parts(page).status).toHaveText("Cancelled");
  } finally {
    await request.put(`/api/products/${id}/opening`, { data: { opensInMs: 0 } });
  }
});

test("a late buyer is told that the product is sold out, by click and by poll", async ({
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

test("a purchase made offline is sent when the network is back", async ({ page, request, expectedErrors }) => {
  expectedErrors.push(/ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED/);
  const { id } = await productOf(request, "cast-iron-skillet");
  await openProduct(page, id);
  const { buy, note, orders } = parts(page);
  await page.context().setOffline(true);
  await expect(page.getByText("You are offline.", { exact: true })).toBeVisible();
  await buy.click();
  await expect(note).toContainText("Nothing was sent");
  await page.context().setOffline(false);
  await expect(orders).toHaveCount(1);
  await expect(page.getByText("You are offline.", { exact: true })).toBeHidden();
});

test("a sale with purchase tokens requires a token for each purchase", async ({ page, request }) => {
  const { id } = await productOf(request, "concert-ticket");
  await openProduct(page, id);
  const { buy, served, orders } = parts(page);
  await expect(buy).toBeDisabled();
  await page.getByRole("button", { name: "Get a purchase token" }).click();
  await expect(page.getByText("You have a purchase token")).toBeVisible();
  await buy.click();
  await expect(served).toContainText(/node-\d/);
  await expect(buy).toBeDisabled();
  await expect(page.getByRole("button", { name: "Get a purchase token" })).toBeVisible();
  await orders.getByRole("button", { name: "Cancel" }).click();
  await expect(parts(page).status).toHaveText("Cancelled");
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

test("the shop works on a phone, with enough contrast in both themes and no axe violations", async ({
  browser,
  request,
}) => {
  const { id } = await productOf(request, "noise-cancelling-headphones");
  const { coupons } = (await (await request.get("/api/coupons")).json()) as { coupons: { id: number }[] };
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const page = await context.newPage();
  await openProduct(page, id);
  await parts(page).buy.tap();
  await expect(parts(page).orders).toHaveCount(1);
  for (const path of [null, "/shop", `/shop/coupons/${coupons[0]?.id}`, "/shop/orders"]) {
    if (path !== null) await page.goto(path);
    await expect(page.getByRole("link", { name: /^My orders/ })).toContainText("1 to pay");
    expect(await page.evaluate(() => document.documentElement.scrollWidth), path ?? "product").toBeLessThanOrEqual(390);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await page.evaluate(lowContrast), `${path ?? "product"}, ${colorScheme}`).toEqual([]);
    }
    expect(await axeFindings(page), path ?? "product").toEqual([]);
  }
  const cancel = page.getByRole("button", { name: "Cancel" });
  expect((await cancel.boundingBox())?.height, "expected a target height of at least 44 px").toBeGreaterThanOrEqual(44);
  await cancel.tap();
  await expect(page.getByTestId("order-status")).toHaveText("Cancelled");
  await context.close();
});

async function axeFindings(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"])
    .analyze();
  return violations.map(({ id, nodes }) => `${id} at ${nodes[0]?.target.join(" ")}`);
}
