import { test as base, expect, type Locator, type Page } from "@playwright/test";

/** Shared by the browser tests: the Lab page object, and a page fixture that fails on unexpected console errors. */

/**
 * Small enough for a test machine and large enough for contention. The built-in load generator saves the start of k6 in each
 * sale; the sale without a lock and the layout test use k6, and the k6 stage tests the generator itself.
 */
export const SMALL_SALE = { stock: 40, buyers: 160, holdMs: 5, engine: "builtin" };

/** Time limit of a sale, including the start of k6. */
export const SALE_LIMIT_MS = 90_000;

export class LabPage {
  readonly page: Page;
  readonly runPanel: Locator;
  readonly oversold: Locator;
  readonly verdict: Locator;
  readonly run: Locator;

  constructor(page: Page) {
    this.page = page;
    this.runPanel = page.getByTestId("run-panel");
    this.oversold = page.getByTestId("oversold");
    this.verdict = page.getByTestId("verdict");
    this.run = page.getByRole("button", { name: "Run sale" });
  }

  async open(query: Readonly<Record<string, string | number>> = {}): Promise<void> {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    await this.page.goto(`/?${search}`);
    await this.whenLive();
  }

  /** Waits until React has hydrated the page, which it shows by writing the settings to the URL. */
  async whenLive(): Promise<void> {
    await expect(this.page).toHaveURL(/strategy=.*fencing=/);
  }

  async strategy(id: string): Promise<void> {
    await this.page.locator(`label:has(input[name="strategy"][value="${id}"])`).click();
  }

  async expectSelected(id: string): Promise<void> {
    await expect(this.page.locator(`input[name="strategy"][value="${id}"]`)).toBeChecked();
  }

  /** Starts a sale and waits until the page shows it finished. @returns the run's id */
  async sale(start: () => Promise<void>): Promise<string> {
    const before = (await this.runPanel.getAttribute("data-run")) ?? "";
    await start();
    const done = this.page.locator(`[data-testid="run-panel"][data-status="finished"]:not([data-run="${before}"])`);
    await expect(done).toBeVisible({ timeout: SALE_LIMIT_MS });
    return (await done.getAttribute("data-run")) ?? "";
  }

  async oversoldCount(): Promise<number> {
    return Number((await this.oversold.innerText()).replaceAll(",", ""));
  }
}

/**
 * Waits for hydration: a key or click before it is lost. React marks hydrated elements with a `__reactFiber` property.
 */
async function whenHydrated<T>(page: Page, response: T): Promise<T> {
  await page.waitForFunction(() => {
    const isOurs = document.querySelector('script[src*="/_next/"]') !== null;
    const main = document.querySelector("main");
    return !isOurs || (main !== null && Object.keys(main).some((key) => key.startsWith("__reactFiber")));
  });
  return response;
}

interface Fixtures {
  readonly lab: LabPage;
  /** Console errors that the test expects; all others fail it. */
  readonly expectedErrors: RegExp[];
}

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures from the parameter's pattern
  expectedErrors: async ({}, use) => use([]),
  page: async ({ page, expectedErrors }, use) => {
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(`${message.text()} ${message.location().url}`.trim());
    });
    const { goto, reload } = page;
    page.goto = async (...where) => whenHydrated(page, await goto.apply(page, where));
    page.reload = async (...how) => whenHydrated(page, await reload.apply(page, how));
    await use(page);
    expect(errors.filter((error) => !expectedErrors.some((expected) => expected.test(error)))).toEqual([]);
  },
  lab: async ({ page }, use) => use(new LabPage(page)),
});

export { expect };
