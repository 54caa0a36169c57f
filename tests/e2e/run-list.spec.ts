import { expect, test } from "./lab";
import { ensureRuns, makeRun } from "./runs";

/** The list of runs: filters, names and deletion. */

test("the list is filtered by its address and by its form, and says why each run has its verdict", async ({
  page,
  request,
}) => {
  test.setTimeout(120_000);
  await ensureRuns(request, ["none", "sql-guarded"]);
  await page.goto("/runs?strategy=none");
  const rows = page.getByRole("table", { name: "Runs, newest first" }).locator("tbody tr");
  await expect(rows.first()).toContainText(/stock updates? (was|were) lost|units ordered from a stock of \d+/);
  for (const row of await rows.all()) await expect(row).toContainText("none");

  await page.getByLabel("Strategy").selectOption("sql-guarded");
  await expect(page).toHaveURL(/\/runs\?strategy=sql-guarded$/);
  for (const row of await rows.all()) await expect(row).toContainText("sql-guarded");
  await page.getByLabel("Verdict").selectOption("Unsafe");
  await expect(page).toHaveURL(/strategy=sql-guarded&verdict=unsafe$/);
  await expect(page.getByText("No run matches these filters.")).toBeVisible();
  await page.getByRole("link", { name: "Show all runs" }).click();
  await expect(page).toHaveURL(/\/runs$/);
});

test("a run is named, found by its name, and deleted after a confirmation", async ({
  page,
  request,
  expectedErrors,
}) => {
  test.setTimeout(120_000);
  expectedErrors.push(/status of 404/);
  const id = await makeRun(request, { strategy: "sql-guarded" });
  await page.goto(`/runs/${id}`);
  await page.getByRole("button", { name: "Name this run" }).click();
  await page.getByLabel("Name", { exact: true }).fill("before the change");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("before the change");

  await page.goto("/runs");
  await page.getByRole("link", { name: "before the change" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: "Delete the run" }).click();
  await expect(page).toHaveURL(/\/runs$/);
  await expect(page.getByRole("link", { name: "before the change" })).toHaveCount(0);
  await page.goto(`/runs/${id}`);
  await expect(page.getByRole("heading", { level: 1 })).toContainText(`There is no run ${id}`);
});
