import { expect, test } from "./lab";
import { makeRuns } from "./runs";

/** Keys that work on every page, and the list of them. */

test.beforeAll(async ({ request }) => {
  test.setTimeout(120_000);
  await makeRuns(request, ["none", "sql-guarded"]);
});

const PICKING = "Compare what is picked";
const TIMELINE = "In the timeline";

test("? lists the keys that work on the page, on every page, and no others", async ({ page, expectedErrors }) => {
  expectedErrors.push(/status of 404/);
  const pages: Readonly<Record<string, { readonly has: readonly string[]; readonly lacks: readonly string[] }>> = {
    "/?strategy=none": { has: ["Run the sale", TIMELINE], lacks: [PICKING] },
    "/compare": { has: [PICKING], lacks: ["Run the sale", TIMELINE] },
    "/compare?strategies=none,sql-guarded": { has: ["These keys"], lacks: [PICKING] },
    "/runs": { has: [PICKING], lacks: [TIMELINE] },
    "/strategies": { has: ["These keys"], lacks: [PICKING, TIMELINE] },
    "/nothing-here": { has: ["These keys"], lacks: ["On this page"] },
  };
  for (const [address, { has, lacks }] of Object.entries(pages)) {
    await page.goto(address);
    if (has.includes(TIMELINE)) await expect(page.getByTestId("timeline").locator("canvas")).toBeVisible();
    const dialog = page.getByRole("dialog", { name: "Keys" });
    // The first press may come before the page has woken up.
    await expect(async () => {
      if (!(await dialog.isVisible())) await page.keyboard.press("?");
      await expect(dialog).toBeVisible({ timeout: 500 });
    }).toPass();
    for (const words of has) await expect(dialog, address).toContainText(words);
    for (const words of lacks) await expect(dialog, address).not.toContainText(words);
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
  }
});

test("the pages are reached by their numbers", async ({ lab, page }) => {
  await lab.open({ strategy: "none", stock: 33 });
  for (const [key, address] of [
    ["2", /\/compare$/],
    ["3", /\/runs$/],
    ["1", /\/\?strategy=none.*stock=33/],
  ] as const) {
    await page.keyboard.press(key);
    await expect(page).toHaveURL(address);
  }
});

test("arrival rate, seed and fencing are set on the page and are in its address", async ({
  lab,
  page,
  expectedErrors,
}) => {
  expectedErrors.push(/ERR_FAILED/);
  await lab.open({ strategy: "redis-fenced" });
  await page.getByLabel("Arrival").selectOption("rate");
  await expect(page.getByLabel("Buyers", { exact: true })).toBeHidden();
  await page.getByLabel("Buyers per second").fill("40");
  await page.getByLabel("For", { exact: true }).fill("1500");
  await page.getByText("Lease, wait limit, seed").click();
  await page.getByLabel("Seed").fill("99");
  await page.getByLabel("Fencing token").selectOption("off");
  await expect(page).toHaveURL(/arrival=rate&rate=40&durationMs=1500.*seed=99&fencing=off/);

  const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/api/runs"));
  await page.route("**/api/runs", (route) => (route.request().method() === "POST" ? route.abort() : route.continue()));
  await lab.run.click();
  const body = (await sent).postDataJSON() as Record<string, unknown>;
  expect(body).toMatchObject({ rate: 40, durationMs: 1_500, seed: 99, fencing: false });
  expect(body.vus).toBeUndefined();
});
