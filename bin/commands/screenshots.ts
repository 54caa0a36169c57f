import { mkdir } from "node:fs/promises";
import path from "node:path";
import { type Browser, chromium, type Locator, type Page } from "@playwright/test";
import { type Command, Option } from "commander";
import { explainFailure, labOf } from "../runs/execute";
import { followRun } from "../runs/follow";
import { type LabAddress, labFetch, openRun } from "../runs/lab-client";
import { print, printError } from "../shared/terminal";
import { ROOT } from "../supervisor/paths";
import { ensureBrowser } from "../testing/browser";

interface ScreenshotFlags {
  readonly url?: string;
  readonly out: string;
}

interface Shot {
  readonly name: string;
  /** A path, or the strategy whose last run is shown. */
  readonly page: string | { readonly runOf: string };
  /** The test id of the only part to show. */
  readonly part?: string;
  readonly theme: "light" | "dark";
  readonly size: { readonly width: number; readonly height: number };
}

const DESK = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };

/** One screenshot per page and theme; each shows the last real run of its strategy. */
const SHOTS: readonly Shot[] = [
  { name: "lab-unsafe-light", page: "/?strategy=none", theme: "light", size: DESK },
  { name: "lab-safe-dark", page: "/?strategy=redis-lock", theme: "dark", size: DESK },
  { name: "run-proof-light", page: { runOf: "none" }, part: "evidence", theme: "light", size: DESK },
  { name: "compare-light", page: "/compare", theme: "light", size: DESK },
  { name: "lab-unsafe-phone-dark", page: "/?strategy=none", theme: "dark", size: PHONE },
];

const STRATEGIES_SHOWN = ["none", "redis-lock"];
const CANNOT_RUN = 2;
const BROWSER_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"];

/** `npm run lab -- screenshots`: takes screenshots of the dashboard for the README, with real runs. */
export function addScreenshotsCommand(program: Command): void {
  program
    .command("screenshots")
    .description("take screenshots of the dashboard for the README, with real runs")
    .addOption(new Option("--url <url>", "the lab (default: the lab of this checkout)").env("LAB_URL"))
    .option("--out <dir>", "the folder to write to", path.join(ROOT, "docs", "screenshots"))
    .action(async (flags: ScreenshotFlags) => {
      process.exitCode = await takeScreenshots(flags).catch((error: unknown) => {
        printError(explainFailure(error));
        return CANNOT_RUN;
      });
    });
}

async function takeScreenshots({ url, out }: ScreenshotFlags): Promise<number> {
  const lab = await labOf(url === undefined ? {} : { url: url.replace(/\/+$/, "") });
  await runMissingStrategies(lab);
  const lastRuns = await readLastRuns(lab);
  await mkdir(out, { recursive: true });
  const { binary } = await ensureBrowser();
  const browser = await chromium.launch({ executablePath: binary, args: BROWSER_FLAGS });
  try {
    for (const shot of SHOTS) print(path.relative(process.cwd(), await take(browser, { lab, shot, out, lastRuns })));
  } finally {
    await browser.close();
  }
  return 0;
}

/** Run ids by strategy. */
type LastRuns = ReadonlyMap<string, string>;

async function readLastRuns(lab: LabAddress): Promise<LastRuns> {
  const response = await labFetch(lab, "/api/runs/latest", { signal: AbortSignal.timeout(30_000) });
  const { runs } = (await response.json()) as { runs: { id: string; strategy: string }[] };
  return new Map(runs.map(({ id, strategy }) => [strategy, id]));
}

/** Runs the default sale for strategies without a run, because their screenshots would be empty. */
async function runMissingStrategies(lab: LabAddress): Promise<void> {
  const lastRuns = await readLastRuns(lab);
  for (const strategy of STRATEGIES_SHOWN.filter((id) => !lastRuns.has(id))) {
    const opened = await openRun(lab, { strategy, engine: "k6", launch: true });
    const { verdict } = await followRun(lab, opened, () => undefined);
    print(`Ran ${strategy}: ${verdict}.`);
  }
}

/** The evidence, or the link to it if the last run is too long for the Lab page; on the Compare page the table. */
function whenDrawn(page: Page): Locator {
  const elsewhere = page.getByRole("link", { name: "Open the run's page" });
  return page.locator("canvas[data-drawn], table[data-testid=compare]").or(elsewhere).first();
}

const MARGIN = 24;

/** The area of a part of the page plus a margin. */
async function withMargin(part: Locator) {
  const box = await part.boundingBox();
  if (box === null) throw new Error("The page does not show the part to photograph. Check its test id.");
  const { x, y, width, height } = box;
  return { x: x - MARGIN, y: y - MARGIN, width: width + 2 * MARGIN, height: height + 2 * MARGIN };
}

interface Job {
  readonly lab: LabAddress;
  readonly shot: Shot;
  readonly out: string;
  readonly lastRuns: LastRuns;
}

async function take(browser: Browser, { lab, shot, out, lastRuns }: Job): Promise<string> {
  const { name, page: where, part, theme, size } = shot;
  const context = await browser.newContext({ viewport: size, colorScheme: theme, reducedMotion: "reduce" });
  const page = await context.newPage();
  const address = typeof where === "string" ? where : `/runs/${lastRuns.get(where.runOf)}`;
  await page.goto(`${lab.baseUrl}${address}`);
  await whenDrawn(page).waitFor({ timeout: 20_000 });
  await page.evaluate(() => document.fonts.ready);
  const file = path.join(out, `${name}.png`);
  const clip = part === undefined ? null : await withMargin(page.getByTestId(part));
  await page.screenshot({ path: file, animations: "disabled", ...(clip === null ? {} : { clip, fullPage: true }) });
  await context.close();
  return file;
}
