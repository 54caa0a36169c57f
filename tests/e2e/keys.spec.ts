import { expect, test } from "./lab";
import { ensureRuns } from "./runs";

/** Keyboard shortcuts and the dialog that lists them. */

test.beforeAll(async ({ request }) => {
  test.setTimeout(120_000);
  await ensureRuns(request, ["none", "sql-guarded"]);
});

const COMPARING = "Compare the selected rows";
const TIMELINE = "Timeline:";

test("? lists exactly the shortcuts that work on the page", async ({ page, expectedErrors }) => {
  expectedErrors.push(/status of 404/);
  const pages: Readonly<Record<string, { readonly has: readonly string[]; readonly lacks: readonly string[] }>> = {
    "/?strategy=none": { has: ["Run the sale", TIMELINE], lacks: [COMPARING] },
    "/compare": { has: [COMPARING], lacks: ["Run the sale", TIMELINE] },
    "/compare?strategies=none,sql-guarded": { has: ["Show these shortcuts"], lacks: [COMPARING] },
    "/runs": { has: [COMPARING], lacks: [TIMELINE] },
    "/strategies": { has: ["Show these shortcuts"], lacks: [COMPARING, TIMELINE] },
    "/nothing-here": { has: ["Show these shortcuts"], lacks: ["On this page"] },
  };
  for (const [address, { has, lacks }] of Object.entries(pages)) {
    await page.goto(address);
    if (has.includes(TIMELINE)) await expect(page.getByTestId("timeline").locator("canvas")).toBeVisible();
    const dialog = page.getByRole("dialog", { name: "Keys" });
    // The first key press may arrive before React handles keys.
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

test("number keys open the pages", async ({ lab, page }) => {
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

test("arrival rate, seed and fencing are stored in the URL and sent with the run", async ({
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
  await page.getByText("Lease, wait timeout, seed").click();
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
