import { test as base, expect, type Locator, type Page } from "@playwright/test";

/** What the browser tests share: the Lab page by its parts, and a page that fails on errors nobody asserted. */

/** A sale that is small enough for a test machine and big enough to contend. */
export const SMALL_SALE = { stock: 40, buyers: 160, holdMs: 5 };

/** The longest a sale may take, k6's start included. */
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

  /** Keys and buttons work from here on: React has taken the page over and written the whole configuration to the URL. */
  async whenLive(): Promise<void> {
    await expect(this.page).toHaveURL(/strategy=.*engine=/);
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
 * A page is there before React has taken it over; a key or a click in between is lost, and on a busy machine that is
 * long. React leaves its mark on what it has taken over.
 */
async function whenTakenOver<T>(page: Page, response: T): Promise<T> {
  await page.waitForFunction(() => {
    const isOurs = document.querySelector('script[src*="/_next/"]') !== null;
    const main = document.querySelector("main");
    return !isOurs || (main !== null && Object.keys(main).some((key) => key.startsWith("__reactFiber")));
  });
  return response;
}

interface Fixtures {
  readonly lab: LabPage;
  /** Errors a test expects, taken out of those that fail it. */
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
    page.goto = async (...where) => whenTakenOver(page, await goto.apply(page, where));
    page.reload = async (...how) => whenTakenOver(page, await reload.apply(page, how));
    await use(page);
    expect(errors.filter((error) => !expectedErrors.some((expected) => expected.test(error)))).toEqual([]);
  },
  lab: async ({ page }, use) => use(new LabPage(page)),
});

export { expect };
