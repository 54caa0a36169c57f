import { axeViolations } from "./axe";
import { lowContrast } from "./contrast";
import { expect, test } from "./lab";
import { openProduct, parts, productOf, stockOf } from "./shop-pages";

/** The shop in a browser. Every test is a new visitor without a cookie. */

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

  await page.getByRole("button", { name: "Fail payment" }).click();
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
    expect(await axeViolations(page), path ?? "product").toEqual([]);
  }
  const cancel = page.getByRole("button", { name: "Cancel" });
  expect((await cancel.boundingBox())?.height, "expected a target height of at least 44 px").toBeGreaterThanOrEqual(44);
  await cancel.tap();
  await expect(page.getByTestId("order-status")).toHaveText("Cancelled");
  await context.close();
});
