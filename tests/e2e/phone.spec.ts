import { expect, test } from "./lab";
import { ensureRuns, makeRun } from "./runs";

/** What a narrow screen must not cut, break or move. */

test.use({ viewport: { width: 390, height: 844 } });

test("the units of charts are whole, also beside a legend with a violation", async ({ page, request }) => {
  test.setTimeout(120_000);
  const [id] = await ensureRuns(request, ["none"]);
  await page.goto(`/runs/${id}`);
  const charts = page.getByTestId("time-chart");
  await expect(charts.first()).toContainText("beyond stock");
  for (const chart of await charts.all()) {
    const unit = chart.locator("figcaption + div > span");
    const hidden = await unit.evaluate((element) => element.scrollWidth - element.clientWidth);
    expect(hidden, `hidden pixels of "${await unit.innerText()}"`).toBe(0);
  }
});

test("a long list of outcomes moves nothing below it", async ({ page, request }) => {
  test.setTimeout(120_000);
  const [id] = await ensureRuns(request, ["sql-guarded"]);
  await page.goto(`/runs/${id}`);
  const nodes = page.getByRole("region", { name: "Node by node" });
  const outcomes = nodes.locator("header p");
  const topOfTable = async () => (await nodes.getByRole("table").boundingBox())?.y;
  const before = await topOfTable();
  await outcomes.evaluate((element) => {
    element.textContent = "20 sold, 1,980 sold out, 120 timed out waiting, 12 limit reached";
  });
  expect(await topOfTable()).toBe(before);
});

test("the name of a fault is not broken at its hyphen in the list of runs", async ({ page, request }) => {
  test.setTimeout(120_000);
  // The pause is a multiple of the lease.
  await makeRun(request, { strategy: "redis-lock", ttlMs: 1_000, faults: [{ id: "pause-holder" }] });
  await page.goto("/runs?strategy=redis-lock");
  const names = page.getByRole("table").getByText("pause-holder", { exact: false }).and(page.locator("span.unbroken"));
  await expect(names.first()).toBeVisible();
  for (const name of await names.all()) {
    expect(await name.evaluate((element) => element.getClientRects().length), await name.innerText()).toBe(1);
  }
});
