import type { SweepDocument } from "../../lib/runs/sweep";
import { expect, test } from "./lab";
import { neverRunStrategy, nothingNeverRun } from "./never-run";
import { makeRun } from "./runs";
import { startSweep } from "./sweep-command";

/** Sweeps that are interrupted and resumed, and the comparison of selected runs and strategies. */

const SWEEP = ["--strategies", "none,sql-guarded", "--repeats", "3", "--engine", "builtin"];
const SALE = ["--stock", "20", "--buyers", "80"];
const SWEEP_LIMIT_MS = 150_000;
const COMPARED = /faster by|slower by|no clear difference/;

test.describe.configure({ timeout: SWEEP_LIMIT_MS });

test("a sweep resumes after SIGKILL and SIGINT and makes each requested run once", async ({
  page,
  request,
  baseURL,
}) => {
  const lab = baseURL ?? "";
  const limit = { timeout: 90_000 };
  const sweep = page.getByTestId("sweep");
  const doneNow = async () => Number(await sweep.getAttribute("data-done"));

  const first = startSweep(lab, [...SWEEP, ...SALE]);
  await expect.poll(() => first.output(), limit).toMatch(/compare\?sweep=\w+/);
  const sweepId = /compare\?sweep=(\w+)/.exec(first.output())?.[1] ?? "";
  await page.goto(`/compare?sweep=${sweepId}`);
  await expect(sweep).toHaveAttribute("data-total", "6", limit);
  await expect.poll(doneNow, limit).toBeGreaterThanOrEqual(1);
  first.child.kill("SIGKILL");
  await first.ended();

  const second = startSweep(lab, ["--resume", sweepId]);
  // The first process may have finished three runs already: interrupt the second one only after it has started.
  await expect.poll(() => second.output(), limit).toContain(sweepId);
  await expect.poll(doneNow, limit).toBeGreaterThanOrEqual(3);
  second.child.kill("SIGINT");
  const [code] = await second.ended();
  // The second process either finished in time or prints the command that resumes the sweep.
  expect(second.output()).toContain(code === 130 ? `sweep --resume ${sweepId}` : "6/6 runs");

  const third = startSweep(lab, ["--resume", sweepId]);
  await third.ended();
  // The page has updated without a reload.
  await expect(sweep).toHaveAttribute("data-done", "6", limit);
  expect(third.output()).toContain("6/6 runs");

  const { cells } = (await (await request.get(`/api/sweeps/${sweepId}`)).json()) as SweepDocument;
  const runs = cells.flatMap(({ run }) => run?.id ?? []);
  const all = (await (await request.get("/api/runs?limit=100")).json()) as {
    runs: NonNullable<(typeof cells)[0]["run"]>[];
  };
  const made = all.runs.filter(({ config }) => config.sweep?.id === sweepId);
  expect(made.map(({ id }) => id).sort(), "expected exactly one run per cell").toEqual([...runs].sort());
  expect(new Set(made.map(({ status }) => status))).toEqual(new Set(["finished"]));
  expect(new Set(made.map(({ config: { stock, vus } }) => `${stock} ${vus}`))).toEqual(new Set(["20 80"]));
});

test.describe("a complete sweep", () => {
  const strategies = ["none", "sql-guarded", "sql-row-lock"];
  const repeats = 3;
  let sweepId = "";
  let runs: string[] = [];

  test.beforeAll(async ({ request }) => {
    test.setTimeout(SWEEP_LIMIT_MS);
    sweepId = `whole${Date.now().toString(36)}`;
    runs = [];
    for (let repeat = 1; repeat <= repeats; repeat += 1) {
      for (const strategy of strategies) {
        runs.push(await makeRun(request, { strategy, sweep: { id: sweepId, repeat, repeats, strategies } }));
      }
    }
  });

  test("repeats are one row with median, interval and comparison with the baseline", async ({ page }) => {
    await page.goto(`/compare?sweep=${sweepId}`);
    const [guarded, rowLock] = [page.getByTestId("group-sql-guarded"), page.getByTestId("group-sql-row-lock")];
    await expect(guarded.locator("td").first()).toHaveText("3");
    await expect(rowLock).toContainText(COMPARED);
    await expect(guarded).not.toContainText(COMPARED);
    await page.getByLabel("Compared with").selectOption("sql-row-lock");
    await expect(guarded).toContainText(COMPARED);
    await expect(rowLock).not.toContainText(COMPARED);
    await expect(page).toHaveURL(/base=sql-row-lock/);
    await page.reload();
    await expect(page.getByLabel("Compared with")).toHaveValue("sql-row-lock");
  });

  test("an unsafe strategy is listed below with what it broke and its rate, and is not compared", async ({ page }) => {
    await page.goto(`/compare?sweep=${sweepId}&base=none`);
    const none = page.getByTestId("unranked").getByTestId("group-none");
    await expect(none).toContainText(/\d+ units ordered from a stock of 20/);
    await expect(none.locator('td[data-label="deliverable /s"]')).toHaveText(/^[\d,.]+/);
    await expect(none).not.toContainText(COMPARED);
    await expect(page.getByLabel("Compared with")).toHaveValue("sql-guarded");
    await expect(page.getByLabel("Compared with").getByRole("option", { name: "none" })).toHaveCount(0);

    await page.goto("/compare");
    await page.getByRole("button", { name: "deliverable" }).click();
    const last = page.getByTestId("unranked").getByTestId("compare-none");
    await expect(last).toContainText(/\d+ units ordered from a stock of 20/);
    const safe = page.locator('[data-testid="compare"] tbody:not([data-testid="unranked"]) tr');
    for (const row of await safe.all()) await expect(row).toHaveAttribute("data-verdict", "safe");
  });

  test("the table sorts by every column with the keyboard", async ({ page }) => {
    await page.goto(`/compare?sweep=${sweepId}`);
    const table = page.getByTestId("groups");
    const names = () => table.locator("tbody th a").allInnerTexts();
    for (const column of await table.getByRole("columnheader").all()) {
      const button = column.getByRole("button");
      await button.focus();
      await page.keyboard.press("Enter");
      const first = await column.getAttribute("aria-sort");
      const before = await names();
      await page.keyboard.press("Space");
      expect(await column.getAttribute("aria-sort")).not.toBe(first);
      expect(["ascending", "descending"]).toContain(first);
      const [last] = before.slice(-1);
      expect(last, "expected the unsafe strategy below the safe ones").toBe("none");
      if ((await button.innerText()).includes("strategy"))
        expect(await names()).toEqual([...before.slice(0, -1).reverse(), last]);
    }
    await expect(table.locator("th[aria-sort]")).toHaveCount(1);
  });

  test("the chart draws both curves, shows values under the pointer, and has a table of values", async ({ page }) => {
    await page.goto("/compare?strategies=none,sql-guarded");
    const figure = page.getByTestId("percentile-curve");
    const plot = figure.getByRole("img", { name: /none \(unsafe\): half within .* sql-guarded: half within/ });
    await expect(plot.locator("path")).toHaveCount(2);
    const paths = await plot.locator("path").evaluateAll((all) => all.map((path) => path.getAttribute("d") ?? ""));
    for (const path of paths) expect(path.split("L").length, path).toBeGreaterThan(10);
    await plot.hover({ position: { x: 300, y: 100 } });
    await expect(figure.getByText(/^at \d+(\.\d+)? %$/)).toBeVisible();
    await figure.getByRole("button", { name: /as a table/ }).click();
    const table = figure.getByRole("table");
    await expect(table.locator("tbody tr")).toHaveCount(2);
    await expect(table.locator("tbody td").first()).toHaveText(/^[\d,]+\.\d$/);
  });

  test("strategies are selected in the table, stored in the URL and compared", async ({ page }) => {
    await page.goto("/compare");
    await page.getByRole("checkbox", { name: "Select none" }).check();
    await expect(page.getByText("1 strategy selected. Select one more")).toBeVisible();
    await page.getByRole("checkbox", { name: "Select sql-guarded" }).focus();
    await page.keyboard.press("Space");
    await expect(page).toHaveURL(/strategies=none,sql-guarded/);
    await page.keyboard.press("c");
    await expect(page.getByTestId("comparison")).toBeVisible();
    await expect(page.getByTestId("group-none")).toBeVisible();
  });

  test("runs are selected in the list of runs", async ({ page }) => {
    await page.goto("/runs");
    for (const id of runs.slice(0, 2)) await page.getByRole("checkbox", { name: new RegExp(`${id}$`) }).check();
    await page.reload();
    await expect(page.getByRole("checkbox", { checked: true })).toHaveCount(2);
    await page.getByRole("link", { name: "Compare 2" }).click();
    await expect(page).toHaveURL(new RegExp(`/compare\\?runs=${runs[0]},${runs[1]}`));
    await expect(page.getByTestId("groups").locator("tr[data-ranked]")).toHaveCount(2);
    await expect(page.getByText("each group has at least 3 runs")).toBeVisible();
  });
});

test("a run with uncommon settings is marked and shows its settings", async ({ page, request }) => {
  await makeRun(request, { strategy: "none" });
  await makeRun(request, { strategy: "sql-guarded", stock: 7, vus: 28 });
  await page.goto("/compare");
  await expect(page.getByTestId("caution")).toBeVisible();
  const odd = page.getByTestId("compare-sql-guarded");
  await expect(odd).toHaveAttribute("data-differs", "true");
  await expect(odd).toContainText("7 units, 28 buyers");
});

test("a strategy without a run is a link to the Lab and not a row of the table", async ({ page, request }) => {
  const never = await neverRunStrategy(request);
  test.skip(never === null && !process.env.CI, nothingNeverRun);
  await page.goto("/compare");
  await expect(page.getByTestId(`compare-${never}`)).toHaveCount(0);
  await page
    .getByTestId("not-run-yet")
    .getByRole("link", { name: `Run ${never}`, exact: true })
    .click();
  await expect(page).toHaveURL(new RegExp(`strategy=${never}&`));
});
