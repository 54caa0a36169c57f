import { defineConfig } from "@playwright/test";

/** Browser tests against a running lab: `LAB_URL`, by default the dashboard that `npm start` serves. */

/** An installed Chromium; if empty, Playwright's own browser. */
const executablePath = process.env.CHROMIUM_PATH || undefined;

/**
 * Specs that only view pages and finished runs, so that two of them can run at the same time. All others open runs: the lab
 * has one run at a time, measures it, and every open Lab page follows it, so they run one after the other.
 */
const VIEWING = /(accessibility|keys|over-time|pages|policy|shop)\.spec\.ts$/;
/** With a selection of files or tests, Playwright would still run a whole dependency first. */
const isSelection = process.argv.some((argument) => argument.endsWith(".spec.ts") || argument === "--grep");

export default defineConfig({
  testDir: "tests/e2e",
  outputDir: "test-results",
  workers: isSelection ? 1 : 2,
  fullyParallel: false,
  retries: 0,
  projects: [
    { name: "viewing", testMatch: VIEWING },
    { name: "sales", testIgnore: VIEWING, workers: 1, dependencies: isSelection ? [] : ["viewing"] },
  ],
  forbidOnly: Boolean(process.env.CI),
  // Timeouts for a busy machine; assertions pass as soon as their condition holds.
  timeout: 120_000,
  globalTimeout: 14 * 60_000,
  expect: { timeout: 20_000 },
  // The JSON report goes to PLAYWRIGHT_JSON_OUTPUT_NAME when that is set.
  reporter: process.env.PLAYWRIGHT_JSON_OUTPUT_NAME ? [["list"], ["json"]] : [["list"]],
  use: {
    baseURL: process.env.LAB_URL || "http://127.0.0.1:3000",
    viewport: { width: 1280, height: 900 },
    actionTimeout: 20_000,
    navigationTimeout: 45_000,
    screenshot: "only-on-failure",
    launchOptions: {
      ...(executablePath === undefined ? {} : { executablePath }),
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});
