import type { APIRequestContext, Page } from "@playwright/test";
import { expect, test } from "./lab";
import { readRun } from "./runs";

/** A run while it is active: in the tab that started it, in another tab, and on its own page. */

/** Ends only when it is stopped. */
const ENDLESS = {
  strategy: "redis-lock",
  stock: 5_000,
  arrival: "rate",
  rate: 40,
  durationMs: 120_000,
  engine: "builtin",
};

async function startEndless(request: APIRequestContext): Promise<string> {
  const { strategy, stock, rate, durationMs, engine } = ENDLESS;
  const body = { strategy, stock, rate, durationMs, engine, holdMs: 1, launch: true };
  const response = await request.post("/api/runs", { data: body });
  expect(response.status()).toBe(201);
  return ((await response.json()) as { id: string }).id;
}

const sold = (page: Page) => page.locator("dl dd").first();
const soldCount = async (page: Page) => Number((await sold(page).innerText()).replaceAll(/\D/g, ""));

test("a sale names its preparation, disables Run in every tab, and stops when asked", async ({
  lab,
  page,
  context,
}) => {
  await lab.open(ENDLESS);
  const other = await context.newPage();
  await other.goto("/?strategy=none");
  const leftOfFields = async () => (await page.getByLabel("Target").boundingBox())?.x;
  const before = await leftOfFields();
  await lab.run.click();
  await expect(page.getByTestId("preparation").getByText("start built-in generator")).toBeVisible();

  await expect(other.getByRole("button", { name: "Running …" })).toBeDisabled();
  await expect(other.getByText("redis-lock runs. One run at a time.")).toBeVisible();
  await expect(page.getByTestId("preparation")).toBeHidden();
  expect(await leftOfFields(), "expected the settings to keep their place").toBe(before);
  await expect.poll(() => soldCount(page)).toBeGreaterThan(20);

  for (const title of ["Answers", "Node latency", "Refused and failed", "In flight and waiting"])
    await expect(page.getByRole("heading", { name: title, exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Node latency: show the values as a table" }).click();
  await expect(page.getByRole("columnheader", { name: "p95, ms" })).toBeVisible();

  await other.getByRole("button", { name: "Stop", exact: true }).click();
  const panel = page.locator('[data-testid="run-panel"][data-status="stopped"]');
  await expect(panel).toBeVisible();
  await expect(lab.verdict).toContainText(/^Inconclusive\. The run was stopped after \d+ purchases/);
  await expect(lab.run).toBeEnabled();
  await expect(other.getByRole("button", { name: "Run sale" })).toBeEnabled();
});

test("figures and axes of an active sale do not move", async ({ lab, page, request }) => {
  const id = await startEndless(request);
  await lab.open({ strategy: "none" });
  await expect.poll(() => soldCount(page)).toBeGreaterThan(5);
  const boxes = () =>
    page.evaluate(() =>
      [...document.querySelectorAll("[data-testid=run-panel] :is(dt, figure, h2, [data-testid=verdict])")].map(
        (one) => {
          const { x, y, width } = one.getBoundingClientRect();
          return [x, y, width].map(Math.round).join(" ");
        },
      ),
    );
  const before = await boxes();
  const soldBefore = await soldCount(page);
  // One digit more than before.
  await expect.poll(() => soldCount(page)).toBeGreaterThan(Math.max(100, soldBefore + 40));
  expect(await boxes()).toEqual(before);
  await request.post(`/api/runs/${id}/stop`);
});

test("the page of an active run is live, injects a fault, and becomes the page of the ended run", async ({
  page,
  request,
}) => {
  const id = await startEndless(request);
  await page.goto(`/runs/${id}`);
  const live = page.getByTestId("live-run");
  await expect(live).toBeVisible();
  await expect.poll(() => soldCount(page)).toBeGreaterThan(5);
  const earlier = await soldCount(page);
  await expect.poll(() => soldCount(page)).toBeGreaterThan(earlier);

  const fault = page.getByRole("region", { name: "Inject a fault" });
  await fault.getByRole("combobox", { name: /^Fault/ }).selectOption("pause-holder");
  await fault.getByLabel("Length, s").fill("3");
  await fault.getByRole("button", { name: "Inject" }).click();
  await expect(page.getByTestId("fault-in-progress")).toContainText("Stops the node that holds the lock");
  await expect(page.getByTestId("live-fault")).toContainText(/pause-holder: node-1 has not answered for/);
  await expect(page.getByTestId("fault-in-progress")).toBeHidden();

  await fault.getByRole("combobox", { name: /^Fault/ }).selectOption("latency");
  await fault.getByRole("combobox", { name: /^Node/ }).selectOption("node-2");
  await fault.getByLabel("Start in, s").fill("1");
  await fault.getByRole("button", { name: "Inject" }).click();
  await expect(fault.getByText(/^latency starts in 1\.00\ss\.$/)).toBeVisible();
  await expect(page.getByTestId("fault-in-progress")).toContainText("Delays every reply of the strategy's servers");
  await expect(page.getByTestId("fault-in-progress")).toBeHidden();

  await expect(fault.getByRole("option", { name: "redis-failover (new run only)" })).toBeDisabled();
  const newRun = fault.getByRole("link", { name: "Set up a new run with redis-failover", exact: true });
  await expect(newRun).toHaveAttribute("href", /strategy=redis-lock.*stock=5000.*fault=redis-failover/);

  await live.getByRole("button", { name: "Stop" }).click();
  await expect(live).toBeHidden();
  await expect(page.getByTestId("verdict")).toContainText("The run was stopped after");
  expect((await readRun(request, id)).status).toBe("stopped");
});
