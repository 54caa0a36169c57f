import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Browser, chromium, type Page } from "@playwright/test";
import { ensureBrowser } from "../../bin/testing/browser";
import { requireEnv } from "../support/lab-env";
import { createOwnDatabase, type OwnDatabase } from "../support/own-database";
import { type OwnNode, startOwnNode } from "../support/own-node";

requireEnv("DATABASE_URL");
const ADMIN_TOKEN = "the admin token of a lab with pages";
const LIMIT_MS = 30_000;

describe("the admin session of a browser", () => {
  let database: OwnDatabase;
  let node: OwnNode;
  let browser: Browser;

  before(async () => {
    database = await createOwnDatabase();
    const env = { DATABASE_URL: database.url, LAB_ADMIN_TOKEN: ADMIN_TOKEN, LOCK_STRATEGY: "sql-guarded" };
    node = await startOwnNode(env);
    const { binary } = await ensureBrowser();
    browser = await chromium.launch({ executablePath: binary, args: ["--no-sandbox", "--disable-gpu"] });
  });
  after(async () => {
    await browser?.close();
    await node?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  const logOutIn = (page: Page) => page.getByRole("button", { name: "Log out" });

  async function openLab(page: Page): Promise<void> {
    page.setDefaultTimeout(LIMIT_MS);
    await page.goto(node.url);
    // The hydrated page writes its settings to the address.
    await page.waitForURL(/strategy=/);
  }

  async function switchTo(page: Page, strategy: string): Promise<void> {
    await page.getByRole("button", { name: "change" }).click();
    await page.getByLabel("Strategy", { exact: true }).selectOption(strategy);
    await page.getByRole("button", { name: "Switch all nodes" }).click();
  }

  it("is opened by the token, ended by its user from the page, and then opens nothing", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await openLab(page);
    assert.equal(await logOutIn(page).count(), 0, "expected no way to log out before the login");
    await switchTo(page, "sql-decrement");
    await page.getByLabel("Admin token").fill(ADMIN_TOKEN);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("Shop uses sql-decrement").waitFor();
    await logOutIn(page).waitFor();
    const [session] = await context.cookies();
    assert.equal(session?.name, "lab_session");

    const other = await context.newPage();
    await openLab(other);
    await logOutIn(other).waitFor();
    await logOutIn(page).click();
    await logOutIn(page).waitFor({ state: "detached" });
    assert.deepEqual(await context.cookies(), []);

    await context.addCookies([{ name: "lab_session", value: session.value, url: node.url }]);
    await switchTo(other, "sql-guarded");
    await other.getByLabel("Admin token").waitFor();
    assert.equal(await logOutIn(other).count(), 0, "expected the other tab to notice the end of the session");
    await context.close();
  });
});
