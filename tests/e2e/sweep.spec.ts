import { expect, test } from "./lab";

/** A sweep that the dashboard makes: started in the Lab, watched, cancelled and resumed on Compare. */

const SALE = { strategy: "none", stock: 20, buyers: 80, holdMs: 1, engine: "builtin" };

test("a sweep is started in the Lab, watched on Compare, and found there later", async ({ lab, page }) => {
  await lab.open(SALE);
  await page.getByRole("button", { name: "Sweep several strategies" }).click();
  const dialog = page.getByRole("dialog", { name: "Sweep" });
  await dialog.getByRole("button", { name: "none of them" }).click();
  await expect(dialog.getByText("Choose at least one strategy.")).toBeVisible();
  for (const id of ["none", "sql-guarded"]) await dialog.getByLabel(id, { exact: true }).check();
  await dialog.getByLabel("Runs of each strategy").fill("2");
  await dialog.getByRole("button", { name: "Start 4 runs" }).click();

  const sweep = page.getByTestId("sweep");
  await expect(sweep).toHaveAttribute("data-total", "4");
  await expect(sweep.getByRole("button", { name: "Cancel" })).toBeVisible();
  await expect(sweep.getByText(/about .* left/)).toBeVisible({ timeout: 60_000 });
  await sweep.getByRole("button", { name: "Cancel" }).click();
  await expect(sweep.getByRole("button", { name: "Resume" })).toBeVisible({ timeout: 60_000 });
  expect(Number(await sweep.getAttribute("data-done"))).toBeLessThan(4);
  await sweep.getByRole("button", { name: "Resume" }).click();
  await expect(sweep).toHaveAttribute("data-done", "4", { timeout: 90_000 });
  await expect(page.getByTestId("comparison")).toBeVisible();

  const id = new URL(page.url()).searchParams.get("sweep") ?? "";
  await page.goto("/compare");
  await page.getByTestId("sweeps").getByRole("link", { name: id }).click();
  await expect(sweep).toHaveAttribute("data-done", "4");
});

test("a sweep cannot be started while a run is in progress", async ({ lab, page, request }) => {
  const sale = { strategy: "none", stock: 5_000, rate: 20, durationMs: 120_000, engine: "builtin", holdMs: 1 };
  await lab.open({ strategy: "none" });
  const opened = await request.post("/api/runs", { data: { ...sale, launch: true } });
  const { id } = (await opened.json()) as { id: string };
  try {
    await page.getByRole("button", { name: "Sweep several strategies" }).click();
    const dialog = page.getByRole("dialog", { name: "Sweep" });
    await expect(dialog.getByText("A run is in progress. Wait until it has ended.")).toBeVisible();
    await expect(dialog.getByRole("button", { name: "Start the sweep" })).toBeDisabled();
  } finally {
    await request.post(`/api/runs/${id}/stop`);
  }
  await expect(page.getByRole("button", { name: /^Start \d+ runs$/ })).toBeEnabled();
});
