import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { errorRow } from "./error-table";
import { CATCH_ALL } from "./next-route";
import { codesOf, openApiDocument } from "./openapi";
import { matchRoute } from "./route-matcher";
import { routes } from "./route-table";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ALL_METHODS = ["DELETE", "GET", "PATCH", "POST", "PUT"];
/** The hot routes answer every method in Next too, because the parity test compares their 405. */
const isHot = (at: string) => /\/(reduce-stock|claim)$/.test(at);
const ROUTE_FILE =
  /^import \{ nextRoute \} from "@\/app\/_lib\/next-route";\n\nexport const \{ ([A-Z, ]+) \} = nextRoute\("([^"]+)"\);\n$/;

interface RouteFile {
  readonly file: string;
  /** The path that Next serves the file at. */
  readonly path: string;
  readonly text: string;
}

const routeFiles: readonly RouteFile[] = readdirSync(path.join(ROOT, "app"), { recursive: true, encoding: "utf8" })
  .filter((file) => path.basename(file) === "route.ts")
  .map((file) => ({
    file: `app/${file}`,
    path: `/${path.dirname(file).split(path.sep).join("/")}`.replace(/\[([^\]]+)\]/g, "{$1}"),
    text: readFileSync(path.join(ROOT, "app", file), "utf8"),
  }));

function methodsOf(at: string): string[] {
  if (at === CATCH_ALL || isHot(at)) return ALL_METHODS;
  return routes.flatMap((route) => (route.path === at ? [route.method.toUpperCase()] : [])).sort();
}

describe("the route files under app/", () => {
  for (const { file, path: at, text } of routeFiles) {
    it(`${file} is one export line of its table entry, with the entry's methods`, () => {
      const [, methods = "", named] = ROUTE_FILE.exec(text) ?? assert.fail(`expected one export line, found:\n${text}`);
      assert.equal(named, at, "the file names another path than the one Next serves it at");
      assert.deepEqual(methods.split(", "), methodsOf(at));
    });
  }

  it("exist for every path of the table", () => {
    const served = new Set(routeFiles.map((file) => file.path));
    assert.deepEqual(
      routes.filter((route) => !served.has(route.path)).map((route) => route.path),
      [],
    );
  });
});

describe("the route table", () => {
  it("has one entry per method and path", () => {
    const keys = routes.map(({ method, path: at }) => `${method} ${at}`);
    assert.deepEqual(keys, [...new Set(keys)]);
  });

  it("has a schema for each parameter of a path, and no other", () => {
    for (const { path: at, params = {} } of routes) {
      const named = [...at.matchAll(/\{([a-zA-Z]+)\}/g)].map(([, name]) => name);
      assert.deepEqual(Object.keys(params).sort(), named.sort(), at);
    }
  });

  it("requires the admin token for every write that is not the buyer's own", () => {
    const buyers = [
      "/api/products/{id}/reduce-stock",
      "/api/coupons/{id}/claim",
      "/api/orders/{id}/pay",
      "/api/orders/{id}/cancel",
      "/api/purchase-tokens",
      "/api/session",
    ];
    const open = routes.filter(
      ({ method, access, path: at }) => method !== "get" && access !== "admin" && !buyers.includes(at),
    );
    assert.deepEqual(open, []);
  });

  it("rejects other sites on every write that a cookie authorizes", () => {
    const byCookie = ["/api/orders/{id}/pay", "/api/orders/{id}/cancel", "/api/purchase-tokens", "/api/session"];
    for (const at of byCookie) {
      assert.equal(routes.find((route) => route.path === at && route.method === "post")?.access, "same-site", at);
    }
  });
});

describe("the route matcher", () => {
  it("finds the route of a path and its parameters", () => {
    const cases: readonly (readonly [string, string, readonly string[]])[] = [
      ["/api/products/7/reduce-stock", "/api/products/{id}/reduce-stock", ["7"]],
      ["/api/products/7/reduce-stock/?x=1", "/api/products/{id}/reduce-stock", ["7"]],
      ["/api/runs/latest", "/api/runs/latest", []],
      ["/api/runs/abc", "/api/runs/{id}", ["abc"]],
      ["/api/runs/latest/samples", "/api/runs/{id}/samples", ["latest"]],
      ["/api/runs/abc/findings/lostUpdates-1", "/api/runs/{id}/findings/{name}", ["abc", "lostUpdates-1"]],
      ["/healthz", "/healthz", []],
    ];
    for (const [url, at, values] of cases) {
      const match = matchRoute(url);
      assert.equal(match.routes?.path, at, url);
      assert.deepEqual(match.values, values, url);
    }
  });

  it("finds every path of the table", () => {
    for (const { path: at } of routes) {
      assert.equal(matchRoute(at.replace(/\{[a-zA-Z]+\}/g, "1")).label, at);
    }
  });

  it("labels every other path with one of few words", () => {
    const labels = {
      "/api/nothing/7": "unknown",
      "/api/products/7/reduce-stock/more": "unknown",
      "/api/products//reduce-stock": "unknown",
      "/_next/static/x.js": "asset",
      "/": "page",
      "/runs/abc": "page",
    };
    for (const [url, label] of Object.entries(labels)) assert.equal(matchRoute(url).label, label, url);
  });
});

describe("the OpenAPI document", () => {
  const document = openApiDocument(routes, "1.2.3");

  it("declares for every route what the server answers before a route sees the request", () => {
    for (const { path: at, method } of routes) {
      const declared = Object.keys(document.paths[at]?.[method]?.responses ?? {});
      for (const status of ["408", "417", "431"])
        assert.ok(declared.includes(status), `${method} ${at} lacks ${status}`);
    }
  });

  it("has an operation with a unique id for every route, and a status for each of its codes", () => {
    const ids = routes.map(({ method, path: at }) => document.paths[at]?.[method]?.operationId);
    assert.equal(new Set(ids).size, routes.length);
    for (const route of routes) {
      const statuses = Object.keys(document.paths[route.path]?.[route.method]?.responses ?? {});
      for (const code of codesOf(route))
        assert.ok(statuses.includes(String(errorRow(code).status)), `${route.path} ${code}`);
    }
  });

  it("describes bodies with the schemas that validate them", () => {
    const body =
      document.paths["/api/products/{id}/reduce-stock"]?.post?.requestBody?.content["application/json"]?.schema;
    assert.deepEqual(body?.required, ["userId"]);
    assert.equal(body?.additionalProperties, false);
  });
});
