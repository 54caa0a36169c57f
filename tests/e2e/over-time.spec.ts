import { writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import type { Locator, Page } from "@playwright/test";
import { type StoredFault, storeRun } from "../../lib/runs/testing/stored-run";
import { expect, test } from "./lab";
import { ensureRuns } from "./runs";

/** Charts over time: resolution of the recorded history, and position of faults. */

const DATABASE_URL = process.env.DATABASE_URL ?? "";
const needsDatabase = "not applicable: DATABASE_URL is not set; npm test sets it";

/** 6,000 purchases take 365 ms. Faults: short, two overlapping, zero length, past the end, and after the end. */
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

/** In CSS pixels from the upper left corner of the canvas. */
interface Spot {
  readonly left: number;
  readonly top: number;
}

/** Number of drawn pixels in a box ten wide and three high around a spot. */
function marksAt(canvas: Locator, { left, top }: Spot): Promise<number> {
  return canvas.evaluate(
    (element, at) => {
      const { width } = element.getBoundingClientRect();
      const drawn = element as HTMLCanvasElement;
      const ratio = drawn.width / width;
      const data = drawn
        .getContext("2d")
        ?.getImageData((at.left - 5) * ratio, at.top * ratio, 10 * ratio, 3 * ratio).data;
      return [...(data ?? [])].filter((value, index) => index % 4 === 3 && value > 0).length;
    },
    { left, top },
  );
}

/** Position of a time at the top of the plot, where the charts draw nothing but faults. */
async function spotOf(chart: Locator, ms: number): Promise<Spot> {
  const [outer, plot] = await Promise.all([
    chart.locator("canvas").boundingBox(),
    chart.locator(".u-over").boundingBox(),
  ]);
  if (!outer || !plot) throw new Error("the chart has no canvas or plot area");
  return { left: plot.x - outer.x + (ms / RUN_MS) * plot.width, top: plot.y - outer.y + 1 };
}

/** Position of the lanes in timeline-canvas.tsx and draw.ts: below two rows of fault names, right of the lane names. */
const LANES_LEFT = 60;
const LANES_TOP = 31;

test("a finished run is drawn in steps of its history, with a table of values for each chart", async ({
  page,
  request,
}) => {
  const [id] = await ensureRuns(request, ["none"]);
  await page.goto(`/runs/${id}`);
  await expect(source(page)).toHaveText(/from 80 recorded purchases in [125]\d*\sms steps/);
  await expect(charts(page)).toHaveCount(CHARTS);
  for (const chart of await charts(page).all()) {
    await chart.getByRole("button", { name: /show the values as a table/ }).click();
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
    await expect(source(page)).toHaveText("Over time, from 6,000 recorded purchases in 5 ms steps");
    for (const chart of await charts(page).all()) {
      const label = await chart.getByRole("img").getAttribute("aria-label");
      expect(label).toContain("Fault kill-holder from 60 ms to 61 ms.");
      expect(label).toContain("Fault session-expiry from 2,000 ms to 2,500 ms.");
      const canvas = chart.locator("canvas");
      for (const ms of HATCHED_MS) {
        await expect
          .poll(async () => marksAt(canvas, await spotOf(chart, ms)), `${label} at ${ms} ms`)
          .toBeGreaterThan(0);
      }
      for (const ms of CLEAR_MS) expect(await marksAt(canvas, await spotOf(chart, ms)), `${label} at ${ms} ms`).toBe(0);
    }
    await page
      .locator("summary")
      .filter({ hasText: /ritical sections by node$/ })
      .click();
    await page.getByRole("button", { name: "Show the whole run" }).click();
    const lanes = page.getByRole("button", {
      name: /^Critical sections.*6,000 of 6,000.* Faults: kill-holder, pause-holder/,
    });
    const width = (await lanes.boundingBox())?.width ?? 0;
    const marksOnLanes = (ms: number) =>
      marksAt(lanes.locator("canvas"), { left: LANES_LEFT + (ms / RUN_MS) * (width - LANES_LEFT), top: LANES_TOP });
    for (const ms of HATCHED_MS.slice(0, -1)) {
      await expect.poll(() => marksOnLanes(ms), `timeline at ${ms} ms`).toBeGreaterThan(0);
    }
    for (const ms of CLEAR_MS) expect(await marksOnLanes(ms), `timeline at ${ms} ms`).toBe(0);
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
