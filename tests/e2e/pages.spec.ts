import { expect, test } from "./lab";
import { ensureRuns } from "./runs";

/** Every page: layout on a phone, theme, main content. */

const PAGES = [
  "/?strategy=none",
  "/?strategy=sql-guarded",
  "/compare",
  "/runs",
  "/strategies",
  "/strategies/redis-reentrant",
  "/faults",
  "/learn",
  "/learn/6?answer=safe",
  "/nothing-here",
];

let runId = "";

test.beforeAll(async ({ request }) => {
  [runId = ""] = await ensureRuns(request, ["none"]);
});

test("no page scrolls sideways on a phone", async ({ page, expectedErrors }) => {
  expectedErrors.push(/status of 404/);
  await page.setViewportSize({ width: 390, height: 844 });
  for (const path of [...PAGES, `/runs/${runId}`]) {
    await page.goto(path);
    await expect(page.locator("main")).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(390);
  }
});

test("the theme follows the system until the user selects one, which a reload keeps", async ({ page }) => {
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto("/strategies");
  const light = await paper();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await paper();
  expect(dark).not.toBe(light);

  await page.getByRole("button", { name: /^Theme: system/ }).click();
  await expect(page.getByRole("button", { name: /^Theme: light/ })).toBeVisible();
  expect(await paper()).toBe(light);
  await page.reload();
  expect(await paper()).toBe(light);
  await page.getByRole("button", { name: /^Theme: light/ }).click();
  await expect(page.getByRole("button", { name: /^Theme: dark/ })).toBeVisible();
  expect(await paper()).toBe(dark);
});

test("prefers-reduced-motion disables transitions", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.goto("/?strategy=none");
  const glide = () =>
    page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--glide").trim());
  expect(await glide()).toBe("0s");
  await page.emulateMedia({ reducedMotion: "no-preference" });
  expect(await glide()).not.toBe("0s");
});

test("a run has a page with evidence, data and exports", async ({ page, request }) => {
  const id = runId;
  await page.goto("/runs");
  await page.getByRole("link", { name: id }).click();
  await expect(page).toHaveURL(new RegExp(`/runs/${id}$`));
  for (const region of ["Verdict", "Node by node", "The checks", "The phases of a purchase", "Versions and machine"]) {
    await expect(page.getByRole("region", { name: region, exact: true })).toBeVisible();
  }
  await expect(page.locator("figure canvas")).toHaveCount(6);
  const document = await request.get((await page.getByRole("link", { name: "Document" }).getAttribute("href")) ?? "");
  expect(((await document.json()) as { id: string }).id).toBe(id);
  const history = await request.get((await page.getByRole("link", { name: "History" }).getAttribute("href")) ?? "");
  expect((await history.text()).split("\n")[0]).toContain('"type":"run"');
  await page.getByRole("link", { name: "Open these settings in the Lab" }).click();
  await expect(page).toHaveURL(/strategy=none.*stock=20.*buyers=80/);
});

test("a strategy's page shows its commands, and a fault to try in the Lab", async ({ page }) => {
  await page.goto("/strategies");
  const columns = await page.getByRole("columnheader").allInnerTexts();
  const row = page.getByRole("row", { name: /^redis-lock/ });
  await expect(row.getByRole("cell").nth(columns.indexOf("holder pauses") - 1)).toHaveText("unsafe: two holders");
  await row.getByRole("link", { name: "redis-lock" }).click();
  await expect(page).toHaveURL(/\/strategies\/redis-lock$/);
  await expect(page.getByRole("img", { name: /^Sequence diagram/ })).toBeVisible();
  await expect(page.getByText(/^SET .* NX PX 5000$/).first()).toBeVisible();
  await page.getByRole("link", { name: "Try pause-holder in the Lab" }).click();
  await expect(page).toHaveURL(/strategy=redis-lock.*fault=pause-holder/);
});

test("a 404 page names what its address asked for", async ({ page, expectedErrors }) => {
  expectedErrors.push(/status of 404/);
  const titles = {
    "/runs/no-such-run": "There is no run no-such-run.",
    "/shop/products/999999": "There is no product 999999.",
    "/strategies/no-such-lock": "There is no page for the strategy no-such-lock.",
    "/nothing-here": "There is no page /nothing-here.",
  };
  for (const [address, title] of Object.entries(titles)) {
    const response = await page.goto(address);
    expect(response?.status()).toBe(404);
    await expect(page.getByRole("heading", { name: title })).toBeVisible();
  }
});

test("a phone shows a native select and keeps Run visible", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/?strategy=none");
  await expect(page).toHaveURL(/engine=/);
  await page.getByRole("combobox", { name: "Strategy" }).selectOption("redlock");
  await expect(page).toHaveURL(/strategy=redlock/);
  await page.mouse.wheel(0, 2_000);
  await expect(page.getByRole("button", { name: "Run sale" })).toBeInViewport();
  await expect(page.getByLabel("Stock", { exact: true })).toBeHidden();
  await page.getByRole("button", { name: /100 units, 500 buyers/ }).click();
  await expect(page.getByLabel("Stock", { exact: true })).toBeVisible();
});

test("/favicon.ico returns the icon", async ({ request }) => {
  const response = await request.get("/favicon.ico");
  expect(response.status()).toBe(200);
  expect(response.headers()["content-type"]).toContain("image/svg+xml");
});
