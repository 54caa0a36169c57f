import { expect, test } from "./lab";

/** The content security policy in a browser: every page works, injected scripts and frames do not. */

interface Violation {
  readonly directive: string;
  readonly blocked: string;
}

declare global {
  interface Window {
    policyViolations: Violation[];
  }
}

const PAGES = [
  "/",
  "/shop",
  "/shop/orders",
  "/shop/coupons/1",
  "/compare",
  "/runs",
  "/strategies",
  "/faults",
  "/learn",
  "/learn/5?answer=safe",
  "/nothing-here",
];

test.beforeEach(async ({ page, expectedErrors }) => {
  expectedErrors.push(/status of 404/);
  await page.addInitScript(() => {
    window.policyViolations = [];
    document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
      window.policyViolations.push({ directive: effectiveDirective, blocked: blockedURI });
    });
  });
});

test("no page violates its policy, and every page has a distinct nonce", async ({ page, request }) => {
  const { runs } = (await (await request.get("/api/runs?limit=1")).json()) as { runs: { id: string }[] };
  const { products } = (await (await request.get("/api/products")).json()) as { products: { id: number }[] };
  const some = [
    ...runs.map(({ id }) => `/runs/${id}`),
    ...products.slice(0, 1).map(({ id }) => `/shop/products/${id}`),
  ];
  const nonces = new Set<string>();
  for (const path of [...PAGES, ...some]) {
    const response = await page.goto(path);
    const policy = response?.headers()["content-security-policy"] ?? "";
    const nonce = /script-src 'self' 'nonce-([^']+)' 'strict-dynamic';/.exec(policy)?.[1];
    expect(nonce, `${path}: ${policy}`).toBeTruthy();
    nonces.add(nonce ?? "");
    await expect(page.locator("main")).toBeVisible();
    // After two frames React has hydrated, and charts and bars have set their styles.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    expect(await page.evaluate(() => window.policyViolations), path).toEqual([]);
  }
  expect(nonces.size).toBe(PAGES.length + some.length);
});

test("an injected script does not run", async ({ page, expectedErrors }) => {
  expectedErrors.push(/Content Security Policy/i);
  await page.goto("/strategies");
  // Injected as markup: `strict-dynamic` allows scripts that a trusted script creates.
  await page.evaluate(() => {
    const markup = document.createElement("div");
    const payload = "document.body.dataset.injected = 'yes'";
    markup.innerHTML = `<img alt="" src="data:," onerror="${payload}"><a href="javascript:void(${payload})">more</a>`;
    document.body.append(markup);
    markup.querySelector("a")?.click();
  });
  await expect.poll(() => page.evaluate(() => window.policyViolations.length)).toBeGreaterThanOrEqual(2);
  expect(await page.evaluate(() => document.body.dataset.injected)).toBeUndefined();
  const directives = await page.evaluate(() => window.policyViolations.map(({ directive }) => directive));
  expect(directives.filter((directive) => !directive.startsWith("script-src"))).toEqual([]);
});

test("no other site can frame the lab", async ({ page, expectedErrors }) => {
  expectedErrors.push(/frame-ancestors|X-Frame-Options|Refused to (frame|display)|Framing/i);
  const lab = test.info().project.use.baseURL ?? "";
  await page.setContent(`<iframe src="${lab}/strategies"></iframe>`);
  await expect.poll(() => page.frames()[1]?.url()).toMatch(/^chrome-error:/);
});
