import { expect, SALE_LIMIT_MS, SMALL_SALE, test } from "./lab";
import { ensureRuns } from "./runs";

/** The main task: select a strategy, run a sale, read the verdict. */

test.describe.configure({ mode: "default", timeout: SALE_LIMIT_MS + 30_000 });

test("a sale without a lock shows an oversell", async ({ lab, page }) => {
  await lab.open({ strategy: "none" });
  const runId = await lab.sale(() => lab.run.click());

  expect(await lab.oversoldCount()).toBeGreaterThan(0);
  await expect(lab.verdict).toContainText("Unsafe.");
  await expect(page.getByText(/\+\d+ beyond the stock/)).toBeVisible();
  await expect(page.getByTestId("interleaving")).toContainText(/Finding 1 of \d+: lost update, at \d+\.\d{3}\s+s/);

  await page.getByRole("link", { name: "Open this run" }).click();
  await expect(page).toHaveURL(new RegExp(`/runs/${runId}$`));
  await expect(page.getByTestId("verdict")).toContainText("Unsafe.");
  expect(Number((await page.getByTestId("oversold").innerText()).replaceAll(",", ""))).toBeGreaterThan(0);
});

test("a sale under a lock is shown as safe", async ({ lab, page }) => {
  await lab.open({ strategy: "none", ...SMALL_SALE });
  await lab.strategy("redis-lock");
  await lab.sale(() => lab.run.click());

  await expect(page.locator("article code").first()).toHaveText("redis-lock");
  await expect(lab.oversold).toHaveText("0");
  await expect(lab.verdict).toContainText("Safe.");
  await expect(page.getByRole("region", { name: "The checks" })).toContainText("no violations");
  await expect(page.getByText(`${SMALL_SALE.stock} units ordered, by the rows in PostgreSQL`)).toBeVisible();
});

test("Compare shows the last run of each strategy, and sorts the unsafe ones apart", async ({ page, request }) => {
  // One for each kind of server and of SQL statement.
  const compared = ["sql-guarded", "sql-optimistic", "redis-lock", "redlock", "zk-mutex", "etcd-lock", "memcached-cas"];
  await ensureRuns(request, ["none", ...compared]);
  await page.goto("/compare");
  await expect(page.getByTestId("compare-none")).toContainText("Unsafe");
  for (const strategy of compared) {
    await expect(page.getByTestId(`compare-${strategy}`)).toContainText("Safe");
  }
  const unsafe = page.getByTestId("unranked").locator("tr:has(td.num)");
  await page.getByRole("button", { name: "oversold" }).click();
  await expect(page.getByRole("columnheader", { name: "oversold" })).toHaveAttribute("aria-sort", "descending");
  const first = unsafe.first().locator("td.num").first();
  expect(Number((await first.innerText()).replaceAll(",", ""))).toBeGreaterThan(0);
});

test("a coupon sale is shown as safe", async ({ lab, page }) => {
  await lab.open({ strategy: "sql-guarded", ...SMALL_SALE });
  await page.getByLabel("Target").selectOption("coupon");
  const runId = await lab.sale(() => lab.run.click());
  await expect(lab.oversold).toHaveText("0");
  await page.goto(`/runs/${runId}`);
  await expect(page.getByRole("region", { name: "Configuration" })).toContainText(/coupon \d+/);
});

/** Limit for a good Cumulative Layout Shift (web.dev/cls). */
const MAX_LAYOUT_SHIFT = 0.1;

test("the layout does not shift while figures update and evidence loads", async ({ lab, page }) => {
  await page.addInitScript(() => {
    const seen = window as unknown as { shifted: number };
    seen.shifted = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) seen.shifted += (entry as unknown as { value: number }).value;
    }).observe({ type: "layout-shift", buffered: true });
  });
  // A hold this long keeps the sale running while the browser measures.
  await lab.open({ strategy: "redis-lock", ...SMALL_SALE, holdMs: 40, engine: "k6" });
  const table = page.getByRole("region", { name: "Node by node" });
  const positions: (number | undefined)[] = [];
  const measure = async () => positions.push((await table.boundingBox())?.y);
  await lab.sale(async () => {
    await lab.run.click();
    await expect(lab.runPanel).toHaveAttribute("data-status", "running");
    await measure();
    await expect(page.locator("dl dd").first()).not.toHaveText(/^0/, { timeout: SALE_LIMIT_MS });
    await measure();
  });
  await measure();
  await expect(page.getByTestId("timeline").locator("canvas[data-drawn]")).toBeVisible();
  await measure();
  expect(new Set(positions).size, `expected one position of the table, found: ${positions.join(", ")}`).toBe(1);
  expect(await page.evaluate(() => (window as unknown as { shifted: number }).shifted)).toBeLessThan(MAX_LAYOUT_SHIFT);
});

test("the Lab follows a sale that was opened elsewhere", async ({ lab, page, request }) => {
  await lab.open({ strategy: "sql-guarded" });
  const response = await request.post("/api/runs", {
    data: { strategy: "redis-lock", stock: 40, vus: 160, engine: "builtin", launch: true },
  });
  expect(response.status()).toBe(201);
  const { id } = (await response.json()) as { id: string };
  await expect(page.locator(`[data-run="${id}"]`)).toBeVisible({ timeout: SALE_LIMIT_MS });
  await expect(page.locator(`[data-run="${id}"]`)).toHaveAttribute("data-status", "finished", {
    timeout: SALE_LIMIT_MS,
  });
});
