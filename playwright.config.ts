import { defineConfig } from "@playwright/test";

/** Browser tests against a running lab: `LAB_URL`, by default the dashboard that `npm start` serves. */

/** An installed Chromium; if empty, Playwright's own browser. */
const executablePath = process.env.CHROMIUM_PATH || undefined;

export default defineConfig({
  testDir: "tests/e2e",
  outputDir: "test-results",
  // Sales measure time: one at a time, and none twice.
  workers: 1,
  fullyParallel: false,
  retries: 0,
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
