import type { APIRequestContext, Page } from "@playwright/test";
import type { Outcome } from "../../app/_lib/learn/chapter";
import { requestOf } from "../../app/_lib/learn/chapter-preset";
import { CHAPTERS } from "../../app/_lib/learn/chapters/all-chapters";
import { hrefOf, isRunOf } from "../../app/_lib/learn/learn-state";
import type { RunDocument } from "../../lib/runs/document";
import { axeViolations } from "./axe";
import { lowContrast } from "./contrast";
import { expect, test } from "./lab";
import { makeRun } from "./runs";

/** `/learn` as a reader walks through it: predict, run on the lab's servers, see the result, go on. */

/** Of one run with its topology, on a busy machine. */
const RUN_LIMIT_MS = 120_000;

const result = (page: Page) => page.getByTestId("chapter-result");

async function predict(page: Page, outcome: Outcome): Promise<void> {
  await page.getByRole("radio", { name: new RegExp(`\\b${outcome}$`) }).check();
  await page.getByRole("button", { name: "This is my prediction" }).click();
  await expect(page).toHaveURL(new RegExp(`answer=${outcome}`));
}

/** Runs the step and waits for its result. */
async function run(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Run it", exact: true }).click();
  await expect(page).toHaveURL(/run=/, { timeout: RUN_LIMIT_MS });
  await expect(page.locator("#run"), "expected the focus to continue at the run").toBeFocused();
  await expect(result(page)).toBeVisible({ timeout: RUN_LIMIT_MS });
}

/** The newest run of the chapter's second part, or a new one. */
async function fencedRun(request: APIRequestContext): Promise<string> {
  const [, { cells } = { cells: [] }] = CHAPTERS[4]?.steps ?? [];
  const [cell] = cells;
  if (cell === undefined) throw new Error("expected a second part of the fifth chapter");
  const preset = requestOf(cell);
  const response = await request.get(`/api/runs?strategy=${preset.strategy}`);
  const { runs } = (await response.json()) as { runs: RunDocument[] };
  const known = runs.find((run) => run.status === "finished" && isRunOf(preset, run));
  return known?.id ?? makeRun(request, preset);
}

test("a reader walks through all chapters, and each run shows what its chapter explains", async ({ page }) => {
  test.setTimeout(12 * 60_000);
  await page.goto("/learn");
  await page.getByRole("link", { name: "Begin with chapter 1" }).click();
  for (const [index, { title, steps }] of CHAPTERS.entries()) {
    await expect(page.getByRole("heading", { level: 1, name: `${index + 1}. ${title}` })).toBeVisible();
    for (const [at, { shows, answers, cells, next }] of steps.entries()) {
      const where = `${title}, part ${at + 1}`;
      const predicted = at === 0 ? "unsafe" : "blocked";
      await expect(page.getByRole("heading", { name: "Run", exact: true }), where).toBeHidden();
      await predict(page, predicted);
      await run(page);
      const evidence = await page.getByTestId("verdict").innerText();
      await expect(result(page), `${where}: ${evidence}`).toHaveAttribute("data-measured", shows);
      const isRight = predicted === shows;
      await expect(result(page)).toContainText(
        `You predicted ${predicted}, ${isRight ? "and" : "but"} the run is ${shows}.`,
      );
      await expect(result(page)).toContainText(answers[predicted].reply.split("`")[0] ?? "");
      if (cells[0].fault === null) await expect(page.getByTestId("interleaving")).toBeVisible();
      else await expect(page.getByTestId("story")).toContainText(/was |lasted /);
      await page.getByRole("link", { name: next ?? /^Next: / }).click();
      if (next !== undefined) await expect(page).toHaveURL(new RegExp(`step=${at + 2}$`));
    }
  }
  await expect(page, "expected the last chapter to lead to the matrix").toHaveURL(/\/faults$/);
});

test("the address of a result shows the same run to others, with its replay, in both themes and on a phone", async ({
  page,
  request,
}) => {
  test.setTimeout(2 * RUN_LIMIT_MS);
  await page.goto(hrefOf({ chapter: 5, step: 2, answer: "safe", run: await fencedRun(request) }));
  await expect(result(page)).toHaveAttribute("data-measured", "safe");
  const current = page.locator('[data-replay="line"][data-time="now"]');
  await page.getByRole("button", { name: "Play" }).focus();
  await page.keyboard.press("Home");
  await expect(current).toContainText("acquire lock, fencing token");
  for (let left = 30; left > 0 && !(await current.innerText()).includes("REFUSED"); left -= 1) {
    await page.keyboard.press("ArrowRight");
  }
  await expect(current).toContainText(/REFUSED \(token \d+ < \d+\)/);

  for (const size of [
    { width: 1280, height: 900 },
    { width: 390, height: 844 },
  ]) {
    await page.setViewportSize(size);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(size.width);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const found = await axeViolations(page, { onlyColours: colorScheme === "dark" });
      expect(found, `${size.width}, ${colorScheme}`).toEqual([]);
      expect(await page.evaluate(lowContrast), `${size.width}, ${colorScheme}`).toEqual([]);
    }
  }
});

test("while another run is active, a chapter says which, and can run afterwards", async ({ page, request }) => {
  test.setTimeout(2 * RUN_LIMIT_MS);
  await page.goto("/learn/1?answer=safe");
  const other = { strategy: "sql-guarded", stock: 20, rate: 5, durationMs: 60_000, engine: "builtin", launch: true };
  const opened = await request.post("/api/runs", { data: other });
  const { id } = (await opened.json()) as { id: string };
  const start = page.getByRole("button", { name: "Run it", exact: true });
  await expect(page.getByText("sql-guarded is running. The lab has one run at a time")).toBeVisible();
  await expect(start).toBeDisabled();
  await request.post(`/api/runs/${id}/stop`);
  await expect(start).toBeEnabled({ timeout: RUN_LIMIT_MS });

  await page.goto(`/learn/1?answer=safe&run=${id}`);
  await expect(page.getByRole("alert").filter({ hasText: "is not a run of this chapter" })).toBeVisible();
  await expect(result(page)).toBeHidden();
});

test("a chapter can be read and predicted without scripts", async ({ browser }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto("/learn/3");
  await expect(page.getByText("the connection of the dead process ends")).toBeVisible();
  await expect(page.getByText("The purchase that has the lock.")).toBeVisible();
  await predict(page, "blocked");
  await expect(page.getByText("npm run lab -- run --strategy redis-setnx")).toBeVisible();
  await context.close();
});
