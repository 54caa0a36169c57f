import type { Page } from "@playwright/test";
import { CHECK_COUNT } from "../../app/_lib/checks";
import { storeRun } from "../../lib/runs/testing/stored-run";
import { expect, SALE_LIMIT_MS, SMALL_SALE, test } from "./lab";
import { ensureRuns } from "./runs";

/** The evidence of a run: interleaving, findings and timeline, also for a long history. */

/** Beside the checks that count violations: conservation, waiters served, fairness and hand-off. */
const MEASURES = 4;
/** Each group of checks has a row of headings. */
const CHECK_GROUPS = 4;

const MANY = 100_000;
const LONGEST_BLOCK_MS = 200;
/** Control run: a page that processed all purchases in one task would be much faster with this few. */
const FEW = 4_000;
const MOST_TIMES = 2;
const DATABASE_URL = process.env.DATABASE_URL ?? "";
const needsDatabase = "not applicable: DATABASE_URL is not set; npm test sets it";

const steps = (page: Page) => page.getByTestId("interleaving").getByTestId("step");
const drawnRange = (page: Page) => page.locator("[data-testid=timeline] canvas").getAttribute("data-drawn");

async function openRun(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(page.locator("[data-testid=timeline] canvas[data-drawn]")).toBeVisible({ timeout: 30_000 });
}

test("a run without a lock opens at its first violation, with its two reads and two writes visible", async ({
  page,
  request,
}) => {
  test.setTimeout(90_000);
  const [id] = await ensureRuns(request, ["none"]);
  await openRun(page, `/runs/${id}`);
  const lines = await steps(page).allInnerTexts();
  const reads = lines.filter((line) => /read stock = \d+/.test(line));
  const writes = lines.filter((line) => /write stock = \d+/.test(line));
  expect([reads.length, writes.length], lines.join("\n")).toEqual([2, 2]);
  const values = (some: string[]) => new Set(some.map((line) => /= (\d+)/.exec(line)?.[1]));
  expect(values(reads).size, "expected both purchases to read the same value").toBe(1);
  expect(values(writes).size, "expected both purchases to write the same value").toBe(1);
  await expect(page.getByTestId("interleaving")).toContainText(/Finding 1 of \d+: lost update/);
  for (const step of await steps(page)
    .filter({ hasText: /read|write/ })
    .all())
    await expect(step).toBeInViewport();
});

test("the Lab shows the evidence of its sale, and of the last run of another strategy", async ({
  lab,
  page,
  request,
}) => {
  test.setTimeout(SALE_LIMIT_MS + 60_000);
  await ensureRuns(request, ["sql-guarded"]);
  await lab.open({ strategy: "none", ...SMALL_SALE });
  const id = await lab.sale(() => lab.run.click());
  const evidence = page.getByTestId("interleaving");
  await expect(evidence).toContainText(/Finding 1 of \d+: lost update/);
  await expect(page.locator("[data-testid=timeline] canvas[data-drawn]")).toBeVisible();
  const first = await steps(page).allInnerTexts();
  await evidence.getByRole("button", { name: "Next finding" }).click();
  await expect(evidence).toContainText(/Finding 2 of \d+: lost update/);
  expect(page.url(), "expected a URL with settings only").not.toContain("finding");

  await page.goto(`/runs/${id}`);
  await expect(steps(page).first()).toBeVisible();
  expect(await steps(page).allInnerTexts(), "expected the same interleaving on the run's page").toEqual(first);

  await lab.open({ strategy: "none" });
  await lab.strategy("sql-guarded");
  await expect(evidence).toContainText("No violation was found.");
});

test("the Lab links to the run's page instead of loading a large history", async ({ lab, page }) => {
  test.skip(DATABASE_URL === "" && !process.env.CI, needsDatabase);
  const id = await storeRun(DATABASE_URL, 20_100);
  await lab.open({ strategy: "redis-lock" });
  const link = page.getByRole("region", { name: "How it happened" }).getByRole("link");
  await expect(link).toHaveAttribute("href", `/runs/${id}`);
  await expect(page.getByTestId("timeline")).toHaveCount(0);
});

test("the Lab shows why evidence failed to load, and retries", async ({ lab, page, request, expectedErrors }) => {
  expectedErrors.push(/status of 503/);
  await ensureRuns(request, ["sql-guarded"]);
  const unavailable = { error: { code: "backend_unavailable", message: "PostgreSQL does not answer." } };
  await page.route("**/evidence", (route) => route.fulfill({ status: 503, json: unavailable }), { times: 1 });
  await lab.open({ strategy: "sql-guarded" });
  const evidence = page.getByRole("region", { name: "How it happened" });
  await expect(evidence).toContainText("PostgreSQL does not answer.");
  await evidence.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByTestId("interleaving")).toContainText("No violation was found.");
});

test("a check with violations opens its first finding, and one that does not apply gives the reason", async ({
  page,
  request,
}) => {
  test.setTimeout(90_000);
  const [id] = await ensureRuns(request, ["none"]);
  await openRun(page, `/runs/${id}`);
  const checks = page.getByTestId("checks");
  await expect(checks.getByRole("row")).toHaveCount(CHECK_COUNT + MEASURES + CHECK_GROUPS);
  await expect(checks.getByRole("row", { name: /Fencing order no fencing token recorded/ })).toContainText(
    "not applicable",
  );
  await checks.getByRole("link", { name: "Overlapping holds: show the first finding" }).click();
  await expect(page.getByTestId("evidence")).toBeFocused();
  await expect(page.getByTestId("evidence")).toBeInViewport();
  await expect(page.getByTestId("interleaving")).toContainText(/Finding \d+ of \d+: overlapping hold/);
  await expect(page.getByTestId("evidence").locator("[aria-current=true]")).toBeInViewport({ ratio: 1 });
  await expect(page).toHaveURL(/finding=overlappingHolds-1/);
});

test("the URL stores the selected finding and the visible range", async ({ page }) => {
  test.skip(DATABASE_URL === "" && !process.env.CI, needsDatabase);
  const id = await storeRun(DATABASE_URL, 600);
  await openRun(page, `/runs/${id}`);
  await expect(page.getByTestId("interleaving")).toContainText("node-1 read 101, node-2 read 101, both wrote 100.");
  await page.getByRole("button", { name: /acquired the lock while/ }).click();
  await expect(page).toHaveURL(/finding=overlappingHolds-1/);
  await expect(steps(page).filter({ hasText: "acquire lock" })).toHaveCount(2);

  const canvas = page.getByRole("button", { name: /^Critical sections by node: \d/ });
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
  await page.getByRole("button", { name: "Critical sections by node: show the values as a table" }).click();
  await expect(page.getByRole("table", { name: "Critical sections by node" }).locator("tbody tr")).not.toHaveCount(0);
});

/** Longest task of the main thread while the page was opened, zoomed and moved, in milliseconds. */
async function longestBlock(page: Page, { id, purchases }: { id: string; purchases: number }): Promise<number> {
  await openRun(page, `/runs/${id}`);
  await page.getByRole("button", { name: "Show the whole run" }).click();
  const all = purchases.toLocaleString("en");
  await expect(page.getByTestId("range")).toContainText(`${all} of ${all}`);
  await page.getByRole("button", { name: /^Critical sections by node: \d/ }).focus();
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
  // Other load on the machine slows down single attempts; the page's own work slows down all of them. If even the control
  // run is slow, the bound is a multiple of the control run.
  const triesMs: number[] = [];
  for (let left = 4; left > 0 && !triesMs.some((triedMs) => triedMs < LONGEST_BLOCK_MS); left -= 1) {
    triesMs.push(Math.round(await longestBlock(page, many)));
  }
  const isSmooth = triesMs.some((triedMs) => triedMs < LONGEST_BLOCK_MS);
  const fewMs = isSmooth ? null : Math.round(await longestBlock(page, few));
  const measured = `longest task with ${MANY} purchases: ${triesMs.join(", ")} ms; with ${FEW}: ${fewMs ?? "not measured"} ms`;
  annotations.push({ type: "longest task, ms", description: measured });
  expect(Math.min(...triesMs), measured).toBeLessThan(Math.max(LONGEST_BLOCK_MS, MOST_TIMES * (fewMs ?? 0)));
});
