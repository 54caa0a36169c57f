import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Browser, chromium, type Page } from "@playwright/test";
import { requestOf } from "../../app/_lib/learn/chapter-preset";
import { mutexAcrossNodes } from "../../app/_lib/learn/chapters/mutex-across-nodes";
import { ensureBrowser } from "../../bin/testing/browser";
import type { RunDocument } from "../../lib/runs/document";
import { runDocument } from "../../lib/runs/testing/run-fixture";
import { requireEnv } from "../support/lab-env";
import { createOwnDatabase, type OwnDatabase } from "../support/own-database";
import { type OwnNode, startOwnNode } from "../support/own-node";

requireEnv("DATABASE_URL");
const ADMIN_TOKEN = "the admin token of a lab with pages";
const LIMIT_MS = 30_000;

describe("the pages in a browser", () => {
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

  const tokenIn = (page: Page) => page.getByRole("dialog", { name: "Admin token" }).getByLabel("Admin token");
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

  it("end the admin session when its user logs out, and it then opens nothing", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await openLab(page);
    assert.equal(await logOutIn(page).count(), 0, "expected no way to log out before the login");
    await switchTo(page, "sql-decrement");
    await tokenIn(page).fill(ADMIN_TOKEN);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("Shop uses sql-decrement").waitFor();
    await logOutIn(page).waitFor();
    const [session] = await context.cookies();
    assert.equal(session?.name, "lab_session");

    const desktop = page.viewportSize();
    await page.setViewportSize({ width: 390, height: 844 });
    const [pages, button] = [
      await page.getByRole("navigation", { name: "Pages" }).boundingBox(),
      await logOutIn(page).boundingBox(),
    ];
    assert.ok(pages && button, "expected the pages and the button on a phone");
    assert.ok(button.y < pages.y + pages.height, "expected Log out in the line of the page links, found it below");
    if (desktop) await page.setViewportSize(desktop);

    const other = await context.newPage();
    await openLab(other);
    await logOutIn(other).waitFor();
    await logOutIn(page).click();
    await logOutIn(page).waitFor({ state: "detached" });
    assert.deepEqual(await context.cookies(), []);

    await context.addCookies([{ name: "lab_session", value: session.value, url: node.url }]);
    await switchTo(other, "sql-guarded");
    await tokenIn(other).waitFor();
    assert.equal(await logOutIn(other).count(), 0, "expected the other tab to notice the end of the session");
    await context.close();
  });

  it("show in every tab what is prepared while a run is opened, and start no other run", async () => {
    const context = await browser.newContext();
    const [before, during, ended] = [await context.newPage(), await context.newPage(), await context.newPage()];
    await openLab(before);
    const done = runDocument({ id: "ended", strategy: "sql-guarded" });
    await insertRun(done, "closing");
    await ended.goto(`${node.url}/runs/ended`);
    await insertRun(runDocument({ id: "opening", strategy: "redis-lock", status: "running" }), "preparing");

    await openLab(during);
    for (const page of [before, during]) {
      const step = page.getByTestId("preparation").getByText("prepare nodes and stock");
      await step.waitFor();
      await page.getByTestId("run-panel").getByText("redis-lock").waitFor();
      assert.equal(await page.getByRole("button", { name: "Starting …" }).isDisabled(), true);
      assert.equal(await page.getByRole("button", { name: "Stop", exact: true }).count(), 0);
    }
    await ended.getByRole("button", { name: "Run again", disabled: true }).waitFor();

    await database.pool.query("DELETE FROM runs WHERE id = 'opening'");
    for (const page of [before, during]) {
      await page.getByRole("button", { name: "Run sale", disabled: false }).waitFor();
      assert.equal(await page.getByTestId("preparation").count(), 0);
    }
    await ended.getByRole("button", { name: "Run again", disabled: false }).waitFor();
    await context.close();
  });

  it("turn the pages of the list of runs, and keep filters and selected runs", async () => {
    const strategy = "zk-mutex";
    for (let number = 100; number < 160; number += 1)
      await insertRun(runDocument({ id: `paged-${number}`, strategy }), "closing");
    const page = await browser.newPage();
    page.setDefaultTimeout(LIMIT_MS);
    await page.goto(`${node.url}/runs?strategy=${strategy}`);
    const pager = page.getByRole("navigation", { name: "Pages of runs" });
    await pager.getByText("1 to 50 of 60 runs").waitFor();
    await page.waitForFunction(() =>
      Object.keys(document.querySelector("main") ?? {}).some((key) => key.startsWith("__react")),
    );
    const boxes = page.getByRole("checkbox");
    const idsOf = () => boxes.evaluateAll((all) => all.map((box) => box.getAttribute("aria-label")));
    const newer = await idsOf();
    await boxes.first().check();
    await page.getByText("1 run selected").waitFor();
    await pager.getByRole("link", { name: "Older" }).click();
    await pager.getByText("51 to 60 of 60 runs").waitFor();
    const older = await idsOf();
    assert.deepEqual([newer.length, older.length], [50, 10]);
    assert.equal(new Set([...newer, ...older]).size, 60, "expected each run on one page");
    assert.match(page.url(), /strategy=zk-mutex&page=2&runs=paged-\d+$/);
    await pager.getByRole("link", { name: "Newer" }).click();
    await pager.getByText("1 to 50 of 60 runs").waitFor();
    assert.equal(await boxes.first().isChecked(), true);
    await page.close();
  });

  it("say in a chapter why a lab with one store node cannot make its run, and show the result of another lab's", async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(LIMIT_MS);
    await page.goto(`${node.url}/learn/2?answer=safe`);
    await page.getByText("local-mutex needs at least two store nodes here, and this lab has one.").waitFor();
    assert.equal(await page.getByRole("button", { name: "Run it" }).count(), 0);

    const stored = runDocument({ id: "chapter-2", strategy: "local-mutex", status: "finished", verdict: "unsafe" });
    const { strategy, ...sale } = requestOf(mutexAcrossNodes.steps[0].cells[0]);
    const { seed, stock, vus = null, holdMs, ttlMs, waitTimeoutMs } = sale;
    const config = { ...stored.config, seed, stock, vus, rate: null, holdMs, ttlMs, waitTimeoutMs, nodes: 3 };
    await insertRun({ ...stored, strategy, config }, "closing");
    await page.goto(`${node.url}/learn/2?answer=safe&run=chapter-2`);
    await page.getByText("You predicted safe, but the run is unsafe.").waitFor();
    await page.getByRole("link", { name: "Next: A lock that never ends" }).waitFor();
    await page.close();
  });

  async function insertRun(document: RunDocument, phase: string): Promise<void> {
    const { id, strategy, status, config, verdict } = document;
    await database.pool.query(
      `INSERT INTO runs (id, strategy, status, phase, opened_by, config, document, deadline_at, verdict)
       VALUES ($1, $2, $3, $4, 'another process', $5, $6, now() + interval '1 hour', $7)`,
      [id, strategy, status, phase, JSON.stringify(config), JSON.stringify(document), verdict],
    );
  }
});
