import type { Page } from "@playwright/test";
import { storeRun } from "../../lib/runs/testing/stored-run";
import { expect, SALE_LIMIT_MS, SMALL_SALE, test } from "./lab";
import { makeRun } from "./runs";

/** A run's page shows how an oversell happened: the lines of a violation, and who was inside, however long the run. */

const MANY = 100_000;
const LONGEST_BLOCK_MS = 200;
/** With so many times fewer purchases a page that works them off in one go would be as much quicker. */
const FEW = 4_000;
const MOST_TIMES = 2;
const DATABASE_URL = process.env.DATABASE_URL ?? "";
const needsDatabase = "not applicable: DATABASE_URL is not known here; npm test sets it";

const steps = (page: Page) => page.getByTestId("interleaving").getByTestId("step");
const drawnRange = (page: Page) => page.locator("[data-testid=timeline] canvas").getAttribute("data-drawn");

async function openRun(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(page.locator("[data-testid=timeline] canvas[data-drawn]")).toBeVisible({ timeout: 30_000 });
}

test("a run without a lock opens on its first violation, with the two reads and writes that made it in sight", async ({
  page,
  request,
}) => {
  test.setTimeout(90_000);
  const id = await makeRun(request, { strategy: "none" });
  await openRun(page, `/runs/${id}`);
  const lines = await steps(page).allInnerTexts();
  const reads = lines.filter((line) => /read stock = \d+/.test(line));
  const writes = lines.filter((line) => /write stock = \d+/.test(line));
  expect([reads.length, writes.length], lines.join("\n")).toEqual([2, 2]);
  const values = (some: string[]) => new Set(some.map((line) => /= (\d+)/.exec(line)?.[1]));
  expect(values(reads).size, "both read one value").toBe(1);
  expect(values(writes).size, "both wrote one value").toBe(1);
  await expect(page.getByTestId("interleaving")).toContainText(/Lost update 1 of \d+/);
  for (const step of await steps(page)
    .filter({ hasText: /read|write/ })
    .all())
    await expect(step).toBeInViewport();
});

test("the Lab ends in the proof of the sale it has run, and of the next strategy's last one", async ({
  lab,
  page,
  request,
}) => {
  test.setTimeout(SALE_LIMIT_MS + 60_000);
  await makeRun(request, { strategy: "sql-guarded" });
  await lab.open({ strategy: "none", ...SMALL_SALE });
  const id = await lab.sale(() => lab.run.click());
  const proof = page.getByTestId("interleaving");
  await expect(proof).toContainText(/Lost update 1 of \d+/);
  await expect(page.locator("[data-testid=timeline] canvas[data-drawn]")).toBeVisible();
  const first = await steps(page).allInnerTexts();
  await proof.getByRole("button", { name: "Next finding" }).click();
  await expect(proof).toContainText(/Lost update 2 of \d+/);
  expect(page.url(), "the Lab's address is its settings'").not.toContain("finding");

  await page.goto(`/runs/${id}`);
  await expect(steps(page).first()).toBeVisible();
  expect(await steps(page).allInnerTexts(), "the run's page shows the same").toEqual(first);

  await lab.open({ strategy: "none" });
  await lab.strategy("sql-guarded");
  await expect(proof).toContainText("No violation was found.");
});

test("a history that takes long to be read is read on the run's own page, and not in the Lab", async ({
  lab,
  page,
}) => {
  test.skip(DATABASE_URL === "" && !process.env.CI, needsDatabase);
  const id = await storeRun(DATABASE_URL, 20_100);
  await lab.open({ strategy: "redis-lock" });
  const link = page.getByRole("region", { name: "How it happened" }).getByRole("link");
  await expect(link).toHaveAttribute("href", `/runs/${id}`);
  await expect(page.getByTestId("timeline")).toHaveCount(0);
});

test("the Lab says why a proof is not there, and asks again", async ({ lab, page, request, expectedErrors }) => {
  expectedErrors.push(/status of 503/);
  await makeRun(request, { strategy: "sql-guarded" });
  const away = { error: { code: "backend_unavailable", message: "PostgreSQL does not answer." } };
  await page.route("**/evidence", (route) => route.fulfill({ status: 503, json: away }), { times: 1 });
  await lab.open({ strategy: "sql-guarded" });
  const proof = page.getByRole("region", { name: "How it happened" });
  await expect(proof).toContainText("PostgreSQL does not answer.");
  await proof.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByTestId("interleaving")).toContainText("No violation was found.");
});

test("a check that found something opens its first finding, and one that was not made says why", async ({
  page,
  request,
}) => {
  test.setTimeout(90_000);
  const id = await makeRun(request, { strategy: "none" });
  await openRun(page, `/runs/${id}`);
  const checks = page.getByTestId("checks");
  await expect(checks.getByRole("row")).toHaveCount(17 + 4);
  await expect(checks.getByRole("row", { name: /Fencing order no fencing token recorded/ })).toContainText(
    "not applicable",
  );
  await checks.getByRole("link", { name: "Overlapping holds: show the first" }).click();
  await expect(page.getByTestId("evidence")).toBeFocused();
  await expect(page.getByTestId("evidence")).toBeInViewport();
  await expect(page.getByTestId("interleaving")).toContainText(/Overlapping hold 1 of \d+/);
  await expect(page.getByTestId("evidence").locator("[aria-current=true]")).toBeInViewport({ ratio: 1 });
  await expect(page).toHaveURL(/finding=overlappingHolds-1/);
});

test("a violation and what is in view are in the address, and come back from it", async ({ page }) => {
  test.skip(DATABASE_URL === "" && !process.env.CI, needsDatabase);
  const id = await storeRun(DATABASE_URL, 600);
  await openRun(page, `/runs/${id}`);
  await expect(page.getByTestId("interleaving")).toContainText("node-1 read 101, node-2 read 101, both wrote 100.");
  await page.getByRole("button", { name: /entered while/ }).click();
  await expect(page).toHaveURL(/finding=overlappingHolds-1/);
  await expect(steps(page).filter({ hasText: "enter" })).toHaveCount(2);

  const canvas = page.getByRole("button", { name: /^Who was inside, node by node: \d/ });
  await canvas.focus();
  await page.keyboard.press("Home");
  await expect.poll(() => drawnRange(page)).toMatch(/^0-/);
  const whole = await drawnRange(page);
  for (const key of ["+", "+", "ArrowRight"]) {
    const before = await drawnRange(page);
    await page.keyboard.press(key);
    await expect.poll(() => drawnRange(page), key).not.toBe(before);
  }
  expect(await drawnRange(page)).not.toBe(whole);
  await expect.poll(() => new URL(page.url()).searchParams.get("fromUs")).toBe((await drawnRange(page))?.split("-")[0]);

  const seen = await drawnRange(page);
  await openRun(page, page.url());
  await expect.poll(() => drawnRange(page)).toBe(seen);
  await expect(page.locator("[data-name=overlappingHolds-1]")).toHaveAttribute("aria-current", "true");
  await page.getByRole("button", { name: "Who was inside, node by node: show the numbers as a table" }).click();
  await expect(page.getByRole("table", { name: "Who was inside, node by node" }).locator("tbody tr")).not.toHaveCount(
    0,
  );
});

/** The longest that the page's main thread was busy without a break while it was opened, zoomed and moved. */
async function longestBlock(page: Page, { id, purchases }: { id: string; purchases: number }): Promise<number> {
  await openRun(page, `/runs/${id}`);
  await page.getByRole("button", { name: "Show the whole run" }).click();
  const all = purchases.toLocaleString("en");
  await expect(page.getByTestId("range")).toContainText(`${all} of ${all}`);
  await page.getByRole("button", { name: /^Who was inside, node by node: \d/ }).focus();
  for (const key of ["+", "+", "ArrowRight", "-", "ArrowLeft", "+", "+", "+", "+", "+", "Home"]) {
    const before = await drawnRange(page);
    await page.keyboard.press(key);
    await expect.poll(() => drawnRange(page), key).not.toBe(before);
  }
  return page.evaluate(() => (window as unknown as { longestTaskMs: number }).longestTaskMs);
}

test(`${MANY} purchases never block the page for ${LONGEST_BLOCK_MS} ms`, async ({ page }, { annotations }) => {
  test.skip(DATABASE_URL === "" && !process.env.CI, needsDatabase);
  test.setTimeout(240_000);
  const many = { id: await storeRun(DATABASE_URL, MANY), purchases: MANY };
  const few = { id: await storeRun(DATABASE_URL, FEW), purchases: FEW };
  await page.addInitScript(() => {
    const seen = window as unknown as { longestTaskMs: number };
    seen.longestTaskMs = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.longestTaskMs = Math.max(seen.longestTaskMs, duration);
    }).observe({ type: "longtask", buffered: true });
  });
  // Somebody else's work on the machine makes one try slow; work of the page's own makes all of them slow. Where the
  // machine is so busy that a page with next to nothing on it is slow too, that one is what the many are held to.
  const triesMs: number[] = [];
  for (let left = 4; left > 0 && !triesMs.some((triedMs) => triedMs < LONGEST_BLOCK_MS); left -= 1) {
    triesMs.push(Math.round(await longestBlock(page, many)));
  }
  const isSmooth = triesMs.some((triedMs) => triedMs < LONGEST_BLOCK_MS);
  const fewMs = isSmooth ? null : Math.round(await longestBlock(page, few));
  const said = `${triesMs.join(", ")}; with ${FEW} purchases: ${fewMs ?? "not tried"}`;
  annotations.push({ type: "longest task, ms", description: said });
  expect(Math.min(...triesMs), said).toBeLessThan(Math.max(LONGEST_BLOCK_MS, MOST_TIMES * (fewMs ?? 0)));
});
