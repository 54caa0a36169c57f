import AxeBuilder from "@axe-core/playwright";
import type { APIRequestContext, Page } from "@playwright/test";
import { lowContrast } from "./contrast";
import { expect, test } from "./lab";

/** The shop as a person uses it. Every test is a new visitor: a browser that has no cookie yet. */

interface Product {
  readonly id: number;
  readonly slug: string;
  readonly stock: number;
}

async function productOf(request: APIRequestContext, slug: string): Promise<Product> {
  const { products } = (await (await request.get("/api/products")).json()) as { products: Product[] };
  const product = products.find((one) => one.slug === slug);
  if (product === undefined) throw new Error(`the shop has no ${slug}`);
  return product;
}

async function stockOf(request: APIRequestContext, id: number): Promise<number> {
  const { product } = (await (await request.get(`/api/products/${id}`)).json()) as { product: Product };
  return product.stock;
}

/** A product page by its parts. */
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

/** Opens a product and waits until the shop knows who is there, so that nothing is clicked before React is. */
async function openProduct(page: Page, id: number): Promise<void> {
  const known = page.waitForResponse((response) => response.url().endsWith("/api/orders") && response.ok());
  await page.goto(`/shop/products/${id}`);
  await known;
}

interface OpenRun {
  readonly id: string;
  readonly target: { readonly kind: "product" | "coupon"; readonly id: number };
}

interface RunWish {
  readonly kind?: "product" | "coupon";
  readonly strategy?: string;
  readonly stock: number;
  /** Purchases that the test itself is going to send. */
  readonly sends?: number;
}

/** A run without a load generator, whose row belongs to this test alone; ended whatever happens. */
async function withRun(
  request: APIRequestContext,
  { kind = "product", strategy = "sql-guarded", stock, sends = 0 }: RunWish,
  use: (run: OpenRun) => Promise<void>,
): Promise<Record<string, unknown>> {
  const data = { strategy, stock, target: { kind }, vus: Math.max(1, sends), holdMs: 20, engine: "external" };
  const opened = await request.post("/api/runs", { data });
  expect(opened.status(), await opened.text()).toBe(201);
  const run = (await opened.json()) as OpenRun;
  const nothing = { p50: null, p90: null, p95: null, p99: null, p999: null, max: null };
  const client = { engine: "test", iterations: sends, droppedIterations: 0, latencyMs: nothing };
  try {
    await use(run);
  } finally {
    await request.post(`/api/runs/${run.id}/finish`, { data: { client } });
  }
  return (await (await request.get(`/api/runs/${run.id}`)).json()) as Record<string, unknown>;
}

test("an order survives a failed payment and is paid, and clicks in a row are one order", async ({
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
  expect(Number(await page.getByTestId("blocked").innerText())).toBeGreaterThan(0);

  await page.getByRole("button", { name: "Pay and fail" }).click();
  await expect(orders.first()).toContainText("The payment failed");
  await expect(orders.first()).toContainText("1 failed payment");
  await page.getByRole("button", { name: /^Pay €/ }).click();
  await expect(status).toHaveText("Paid");
  await page.getByRole("link", { name: "My orders" }).click();
  await expect(page.getByTestId("order-status")).toHaveText(["Paid"]);
});

test("a cancelled order gives its unit back", async ({ page, request }) => {
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

test("a lost answer is asked for again with the same key, over a reload too, and sells once", async ({
  page,
  request,
  expectedErrors,
}) => {
  expectedErrors.push(/ERR_FAILED/);
  const { id } = await productOf(request, "cast-iron-skillet");
  const keys = new Set<string | undefined>();
  let isLosing = true;
  await page.route("**/reduce-stock", async (route) => {
    // The shop sells it; only its answers get lost.
    if (keys.size === 0) await route.fetch();
    keys.add(route.request().headers()["idempotency-key"]);
    await (isLosing ? route.abort() : route.continue());
  });
  await openProduct(page, id);
  const { buy, note, served, orders } = parts(page);
  await buy.click();
  await expect(note).toContainText("not known yet");
  await page.reload();
  await expect(note).toContainText("not known yet");
  isLosing = false;
  await expect(served).toContainText("the first one, again");
  await expect(orders).toHaveCount(1);
  expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
});

test("a sale opens by itself at its moment", async ({ page, request }) => {
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

test("the last unit is gone for who comes too late, with the page open or with a click", async ({
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
    const taken = await request.post(`/api/products/${target.id}/reduce-stock`, { data: { userId: "somebody-else" } });
    expect(taken.status()).toBe(201);
    await buy.click();
    await expect(note).toContainText("Sold out: the last unit went to somebody else.");
    await page.unroute(`**/api/products/${target.id}`);
    await expect(state).toContainText("Sold out.");
    await expect(buy).toBeDisabled();
  });
});

test("a coupon is claimed once, whatever the page still shows", async ({ page, request, expectedErrors }) => {
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
    await expect(page.getByText("It is yours.")).toBeVisible();
    await open();
    await expect(claim).toHaveText("Claimed");
    await expect(claim).toBeDisabled();

    await page.route("**/api/orders", (route) => route.fulfill({ json: { orders: [], claims: [] } }));
    await open();
    await claim.click();
    await expect(page.getByText("You have already claimed this coupon; one each.")).toBeVisible();
  });
});

test("what is bought offline is bought when the network is back", async ({ page, request, expectedErrors }) => {
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

test("a sale with purchase tokens sells to who got one before", async ({ page, request }) => {
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

test("a person buys in a run, sees who served it, and the run is judged right", async ({ page, request }) => {
  const sends = 12;
  const { nodes } = (await (await request.get("/api/strategies")).json()) as { nodes: { name: string; url: string }[] };
  const document = await withRun(
    request,
    { strategy: "redis-lock", stock: sends + 2, sends },
    async ({ id, target }) => {
      await page.goto("/");
      await page.getByRole("link", { name: "Buy in it" }).click();
      await expect(page).toHaveURL(new RegExp(`/shop/products/${target.id}$`));
      const { buy, served } = parts(page);
      await expect(page.getByText("A run is on")).toBeVisible();
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

test("the shop can be used on a phone, read in both themes, and axe finds nothing", async ({ browser, request }) => {
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
  expect((await cancel.boundingBox())?.height, "a finger's height").toBeGreaterThanOrEqual(44);
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
