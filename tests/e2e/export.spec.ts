import { writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { expect, test } from "./lab";
import { makeRun, readRun } from "./runs";

/** Exported files of a run, and the rerun button. */

let runId = "";

test.describe.configure({ timeout: 120_000 });

test.beforeAll(async ({ request }) => {
  runId = await makeRun(request, { strategy: "none", seed: 77 });
});

test("the HTML file works offline, with charts and verdict", async ({ browser, request }, info) => {
  const response = await request.get(`/api/runs/${runId}/export?format=html`);
  expect(response.headers()["content-disposition"]).toContain(`run-${runId}.html`);
  const file = info.outputPath("run.html");
  await writeFile(file, await response.text());

  const context = await browser.newContext({ offline: true });
  const page = await context.newPage();
  const requestedUrls: string[] = [];
  const consoleErrors: string[] = [];
  page.on("request", (one) => requestedUrls.push(one.url()));
  page.on("console", (message) => consoleErrors.push(message.text()));
  page.on("pageerror", (error) => consoleErrors.push(error.message));
  await page.goto(pathToFileURL(file).href);

  await expect(page.locator("#verdict")).toContainText("Unsafe.");
  expect(Number((await page.locator("#oversold").innerText()).replaceAll(",", ""))).toBeGreaterThan(0);
  await expect(page.locator(".findings li").first()).toBeVisible();
  const charts = page.locator("figure > svg");
  await expect(charts).toHaveCount(6);
  for (const chart of await charts.all()) {
    const box = await chart.locator("path.line, rect").first().boundingBox();
    expect(box?.width ?? 0, "expected a drawn line or bar").toBeGreaterThan(0);
  }
  await page.getByText("Answers per second: values").click();
  await expect(page.locator("figure details[open] tbody tr").first()).toBeVisible();
  expect(requestedUrls).toEqual([pathToFileURL(file).href]);
  expect(consoleErrors).toEqual([]);
  await context.close();
});

test("the other files have their formats", async ({ request, page }) => {
  const get = async (query: string) => {
    const response = await request.get(`/api/runs/${runId}/export?${query}`);
    expect(response.status(), query).toBe(200);
    return response.text();
  };
  expect((JSON.parse(await get("format=json")) as { id: string }).id).toBe(runId);
  expect(await get("format=csv")).toMatch(/^seq,at_ms,stock_left,orders,.*\r\n1,/);
  expect((await get("format=csv&rows=operations")).trim().split("\r\n")).toHaveLength(81);
  expect(await get("format=csv&rows=percentiles")).toMatch(/^of,percentile,ms\r\nnodes,0,.*\r\nbuyers,0,/s);
  for (const of of ["latency", "buyers"])
    expect(await get(`format=hgrm&of=${of}`)).toMatch(/1\/\(1-Percentile\).* 1\.000000000000 +80\n/s);
  expect((await request.get(`/api/runs/${runId}/export?format=pdf`)).status()).toBe(400);

  await page.goto(`/runs/${runId}`);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "HTML", exact: true }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`run-${runId}.html`);
});

test("Run again starts a run with the same settings and seed, and the Lab follows it", async ({ page, request }) => {
  await page.goto(`/runs/${runId}`);
  await page.getByRole("button", { name: "Run again" }).click();
  await expect(page).toHaveURL(/\/\?strategy=none.*stock=20.*buyers=80.*seed=77/);
  const finished = page.locator(`[data-testid="run-panel"][data-status="finished"]:not([data-run="${runId}"])`);
  await expect(finished).toBeVisible({ timeout: 60_000 });
  const rerun = await readRun(request, (await finished.getAttribute("data-run")) ?? "");
  expect(rerun.config).toEqual((await readRun(request, runId)).config);
});
