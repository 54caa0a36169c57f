import { expect, test } from "./lab";

/** Keys that work on every page, and the list of them. */

test("? lists the keys of the page, on every page", async ({ page, expectedErrors }) => {
  expectedErrors.push(/status of 404/);
  const pages: Readonly<Record<string, RegExp>> = {
    "/?strategy=none": /Run the sale/,
    "/compare": /Compare what is picked/,
    "/runs": /Compare what is picked/,
    "/strategies": /These keys/,
    "/nothing-here": /These keys/,
  };
  for (const [address, help] of Object.entries(pages)) {
    await page.goto(address);
    const dialog = page.getByRole("dialog", { name: "Keys" });
    // The first press may come before the page has woken up.
    await expect(async () => {
      if (!(await dialog.isVisible())) await page.keyboard.press("?");
      await expect(dialog).toBeVisible({ timeout: 500 });
    }).toPass();
    await expect(dialog).toContainText(help);
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
