import { writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import type { Locator, Page } from "@playwright/test";
import { type StoredFault, storeRun } from "../support/stored-run";
import { expect, test } from "./lab";
import { makeRun } from "./runs";

/** A run over time: as fine as it was recorded, with its faults where they were. */

const DATABASE_URL = process.env.DATABASE_URL ?? "";
const needsDatabase = "not applicable: DATABASE_URL is not known here; npm test sets it";

/** 6,000 purchases take 365 ms: short, two that overlap, of no length, beyond the end, and after it. */
const PURCHASES = 6_000;
const FAULTS: readonly StoredFault[] = [
  { faultId: "kill-holder", fromMs: 60, toMs: 61 },
  { faultId: "pause-holder", fromMs: 120, toMs: 200 },
  { faultId: "redis-restart", fromMs: 150, toMs: 230 },
  { faultId: "memcached-flush", fromMs: 300, toMs: 300 },
  { faultId: "latency", fromMs: 340, toMs: 900 },
  { faultId: "session-expiry", fromMs: 2_000, toMs: 2_500 },
];
const RUN_MS = 365;
const HATCHED_MS = [60, 130, 175, 220, 300, 350, RUN_MS];
const CLEAR_MS = [100, 270];
const CHARTS = 5;

const charts = (page: Page) => page.getByTestId("run-page").getByTestId("time-chart");
const source = (page: Page) => page.getByRole("main").getByTestId("source");

/** Pixels that are not the paper's, in a few rows at the top of the plot, where no chart draws anything else. */
function marksAt(chart: Locator, ms: number): Promise<number> {
  return chart.evaluate((figure, share) => {
    const canvas = figure.querySelector("canvas");
    const over = figure.querySelector(".u-over");
    const pen = canvas?.getContext("2d");
    if (!canvas || !over || !pen) return -1;
    const [outer, plot] = [canvas.getBoundingClientRect(), over.getBoundingClientRect()];
    const ratio = canvas.width / outer.width;
    const left = (plot.left - outer.left + share * plot.width) * ratio;
    const { data } = pen.getImageData(left - 5, (plot.top - outer.top) * ratio + 1, 10, 4);
    let marks = 0;
    for (let at = 3; at < data.length; at += 4) if ((data[at] ?? 0) > 0) marks += 1;
    return marks;
  }, ms / RUN_MS);
}

test("a finished run is drawn in steps of its history, from beginning to end, and its numbers are in a table", async ({
  page,
  request,
}) => {
  const id = await makeRun(request, { strategy: "none" });
  await page.goto(`/runs/${id}`);
  await expect(source(page)).toHaveText(/from 80 recorded purchases, [125]\d* ms steps/);
  await expect(charts(page)).toHaveCount(CHARTS);
  for (const chart of await charts(page).all()) {
    await chart.getByRole("button", { name: /show the numbers as a table/ }).click();
    const rows = await chart.locator("tbody tr").count();
    expect(rows).toBeGreaterThanOrEqual(48);
    expect(rows).toBeLessThanOrEqual(121);
  }
  const stock = page.getByRole("table", { name: /^Stock left and orders taken/ });
  const [, orders = "", left = ""] = await stock.locator("tbody tr").last().locator("th, td").allInnerTexts();
  const { stock: known } = (await (await request.get(`/api/runs/${id}`)).json()) as {
    stock: { orders: number; final: number };
  };
  expect([Number(orders), Number(left)]).toEqual([known.orders, known.final]);

  await page.goto("/?strategy=none");
  await expect(source(page)).toHaveText(/recorded purchases/);
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`faults are hatched and named on every chart over time and on the timeline, in ${colorScheme}`, async ({
    page,
    request,
  }, info) => {
    test.skip(DATABASE_URL === "" && !process.env.CI, needsDatabase);
    const id = await storeRun(DATABASE_URL, PURCHASES, FAULTS);
    await page.emulateMedia({ colorScheme });
    await page.goto(`/runs/${id}`);
    await expect(source(page)).toHaveText("Over time, from 6,000 recorded purchases, 5 ms steps");
    for (const chart of await charts(page).all()) {
      const label = await chart.getByRole("img").getAttribute("aria-label");
      expect(label).toContain("Fault kill-holder from 60 ms to 61 ms.");
      expect(label).toContain("Fault session-expiry from 2000 ms to 2500 ms.");
      for (const ms of HATCHED_MS)
        await expect.poll(() => marksAt(chart, ms), `${label} at ${ms} ms`).toBeGreaterThan(0);
      for (const ms of CLEAR_MS) expect(await marksAt(chart, ms), `${label} at ${ms} ms`).toBe(0);
    }
    const list = page.getByRole("region", { name: "Faults" }).getByRole("listitem");
    await expect(list).toHaveCount(FAULTS.length);
    await expect(list.first()).toHaveText("kill-holder 60 ms to 61 ms made by a test, 1 ms");

    const file = info.outputPath("run.html");
    await writeFile(file, await (await request.get(`/api/runs/${id}/export?format=html`)).text());
    await page.goto(pathToFileURL(file).href);
    const names = page.locator("figure:not(.wide) svg text.fault");
    await expect(names.filter({ hasText: "kill-holder" })).toHaveCount(CHARTS);
    const bands = page.locator("figure:not(.wide) svg rect.band");
    await expect(bands).toHaveCount(CHARTS * FAULTS.length);
    for (const band of await bands.all()) expect((await band.boundingBox())?.width).toBeGreaterThan(1);
  });
}
