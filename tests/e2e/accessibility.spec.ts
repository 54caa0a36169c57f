import type { Page } from "@playwright/test";
import { axeViolations } from "./axe";
import { lowContrast } from "./contrast";
import { expect, test } from "./lab";
import { ensureRuns } from "./runs";

/** axe at WCAG 2.2 AA, and the contrast of all text: every page in both themes, dialogs, tables behind charts, and folded settings. */

const THEMES = ["light", "dark"] as const;

/** The slowest file: both workers share its tests. */
test.describe.configure({ mode: "parallel" });

let runs: readonly string[] = [];

test.beforeAll(async ({ request }) => {
  test.setTimeout(120_000);
  runs = await ensureRuns(request, ["none", "sql-guarded"]);
});

const PAGES: Readonly<Record<string, () => string>> = {
  "the Lab": () => "/?strategy=none",
  "the Lab with a safe run": () => "/?strategy=sql-guarded",
  Compare: () => "/compare",
  "Compare with two strategies": () => "/compare?strategies=none,sql-guarded",
  "Compare with two runs": () => `/compare?runs=${runs.join(",")}`,
  "Compare with an unknown sweep": () => "/compare?sweep=no-such-sweep",
  Runs: () => "/runs",
  "Runs with two selected": () => `/runs?runs=${runs.join(",")}`,
  "an unsafe run": () => `/runs/${runs[0]}`,
  "a safe run": () => `/runs/${runs[1]}`,
  Strategies: () => "/strategies",
  "a strategy": () => "/strategies/zk-mutex",
  "the fault matrix": () => "/faults?cell=redis-lock.pause-holder",
  Learn: () => "/learn",
  "a chapter": () => "/learn/5",
  "a chapter with a prediction": () => "/learn/7?answer=safe",
  "an unknown URL": () => "/nothing-here",
};

/**
 * Rows of one table come from one template, so its first twelve stand for hundreds. Twelve rows of the fault matrix have every
 * kind of cell. The contrast of the text is measured in all rows.
 */
const FURTHER_ROWS = "tbody tr:nth-child(n + 13)";

/**
 * Runs axe in the light theme, and its rules for colours in the dark theme too. Axe passes text whose background it cannot
 * tell, so the contrast is measured as well.
 */
async function expectNoViolations(
  page: Page,
  where: string,
  themes: readonly (typeof THEMES)[number][] = THEMES,
): Promise<void> {
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const found = await axeViolations(page, { onlyColours: colorScheme === "dark", except: FURTHER_ROWS });
    expect(found, `${where}, ${colorScheme}`).toEqual([]);
    expect(await page.evaluate(lowContrast), `${where}, ${colorScheme}`).toEqual([]);
  }
}

for (const [name, address] of Object.entries(PAGES)) {
  test(`axe finds nothing on ${name}, light and dark`, async ({ page, expectedErrors }) => {
    expectedErrors.push(/status of 404/);
    await page.goto(address());
    await expect(page.locator("main")).toBeVisible();
    // The Lab loads its evidence after the page.
    if (address().startsWith("/?")) await expect(page.locator("canvas[data-drawn]")).toBeVisible();
    await expectNoViolations(page, name);
  });
}

test("axe finds nothing in the dialogs, the tables behind the charts, and the folded settings", async ({
  lab,
  page,
}) => {
  await lab.open({ strategy: "none" });
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toBeVisible();
  await expectNoViolations(page, "the keys");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  await page.getByText("Lease, wait timeout, seed").click();
  for (const toggle of await page.getByRole("button", { name: /show the values as a table/ }).all())
    await toggle.click();
  await expectNoViolations(page, "the Lab with its tables");
});

test("axe finds nothing on a phone", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  for (const address of ["/?strategy=none", "/compare?strategies=none,sql-guarded", "/runs", `/runs/${runs[0]}`]) {
    await page.goto(address);
    await expect(page.locator("main")).toBeVisible();
    // The colours are those of the wide page.
    await expectNoViolations(page, address, ["light"]);
  }
});

test("an image without a text alternative and low contrast in the dark theme are found", async ({ page }) => {
  await page.goto("/strategies");
  await page.evaluate(() => document.querySelector("main")?.insertAdjacentHTML("beforeend", "<img src='data:,'>"));
  expect((await axeViolations(page, { except: FURTHER_ROWS })).join()).toContain("image-alt");
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await axeViolations(page, { onlyColours: true, except: FURTHER_ROWS })).toEqual([]);
  await page.evaluate(() =>
    document.querySelector("main")?.insertAdjacentHTML("beforeend", "<p style='color: #333'>dark</p>"),
  );
  expect((await axeViolations(page, { onlyColours: true, except: FURTHER_ROWS })).join()).toContain("color-contrast");
  expect(await page.evaluate(lowContrast)).not.toEqual([]);
});
