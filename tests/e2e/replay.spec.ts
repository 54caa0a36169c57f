import { writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import type { Page } from "@playwright/test";
import { axeViolations } from "./axe";
import { expect, test } from "./lab";
import { makeRun } from "./runs";

/** The story of a run with a fault, and its replay: on the page and in the exported file. */

const SALE = { strategy: "redis-fenced", ttlMs: 500, faults: [{ id: "pause-holder", atMs: 50 }] };

const position = (page: Page) => page.locator('[data-replay="time"]');
const current = (page: Page) => page.locator('[data-replay="line"][data-time="now"]');

/** Steps through the replay by buttons and keys. @returns the address of the step at which the write was refused */
async function stepThrough(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Play" }).focus();
  await page.keyboard.press("Home");
  await expect(current(page)).toContainText("acquire lock, fencing token");
  const start = await position(page).innerText();
  for (let left = 30; left > 0 && !(await current(page).innerText()).includes("REFUSED"); left -= 1) {
    await page.getByRole("button", { name: "Next step" }).click();
  }
  await expect(current(page)).toContainText(/REFUSED \(token \d+ < \d+\)/);
  expect(await position(page).innerText()).not.toBe(start);
  return page.url();
}

test("a run with a fault opens on its story, whose replay can be stepped, played and shared", async ({
  page,
  request,
  browser,
}, info) => {
  test.setTimeout(120_000);
  const id = await makeRun(request, SALE);
  await page.goto(`/runs/${id}`);
  const sentence = page.getByTestId("story-sentence");
  await expect(sentence).toContainText(/was paused for .* the resource refused its stale write \(token \d+ < \d+\)\.$/);
  await expect(page.getByTestId("evidence"), "expected the rest to be folded").toBeHidden();
  expect(await axeViolations(page)).toEqual([]);

  const refused = await stepThrough(page);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.getByRole("button", { name: "Play" }).click();
  await expect(current(page)).toContainText("release lock", { timeout: 30_000 });
  await expect(page.getByRole("button", { name: "Play" })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollHeight), "expected no layout shift").toBe(height);

  await page.goto("/runs");
  await page.goto(refused);
  await expect(current(page)).toContainText("REFUSED");

  const file = info.outputPath("run.html");
  await writeFile(file, await (await request.get(`/api/runs/${id}/export?format=html`)).text());
  const context = await browser.newContext({ offline: true, reducedMotion: "reduce" });
  const exported = await context.newPage();
  const errors: string[] = [];
  exported.on("console", (message) => errors.push(message.text()));
  exported.on("pageerror", (error) => errors.push(error.message));
  await exported.goto(pathToFileURL(file).href);
  expect(new URL(await stepThrough(exported)).hash).toBe(new URL(refused).hash);
  expect(errors).toEqual([]);
  await context.close();
});
