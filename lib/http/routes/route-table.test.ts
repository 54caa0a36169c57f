import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { matchHotPath } from "../hot-path";
import { errorCodes } from "./error-codes";
import { matchRoute } from "./match";
import { codesOf, openApiDocument } from "./openapi";
import { routes } from "./route-table";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
/** For paths that are no route. */
const CATCH_ALL = "/api/{...path}";

/** `METHOD /path` of every route file of Next; those that hand every method on are known by the registry alone. */
function routeFiles(): { path: string; methods: string[] | "all" }[] {
  const files = readdirSync(path.join(ROOT, "app"), { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => path.basename(file) === "route.ts")
    .map((file) => {
      const text = readFileSync(path.join(ROOT, "app", file), "utf8");
      const exported = METHODS.filter((method) =>
        new RegExp(`export (const|async function|function) ${method}\\b`).test(text),
      );
      const url = `/${path.dirname(file).split(path.sep).join("/")}`.replace(/\[([^\]]+)\]/g, "{$1}");
      return { path: url, methods: exported.length > 0 ? exported : ("all" as const) };
    })
    .filter((file) => file.path !== CATCH_ALL);
}

const registered = (at: string) =>
  routes.filter((route) => route.path === at).map(({ method }) => method.toUpperCase());

describe("the registry of routes", () => {
  it("has every route file with the methods it exports", () => {
    const files = routeFiles();
    assert.ok(files.length > 20, `${files.length} route files`);
    for (const file of files) {
      const methods = registered(file.path);
      assert.notDeepEqual(methods, [], `${file.path} is in app/ and not in lib/http/routes/`);
      if (file.methods !== "all") assert.deepEqual([...methods].sort(), [...file.methods].sort(), file.path);
    }
  });

  it("has no route of Next without a route file", () => {
    const files = new Set(routeFiles().map((file) => file.path));
    const lost = routes.filter(({ served, path: at }) => served !== "control" && !files.has(at));
    assert.deepEqual(lost, []);
  });

  it("has exactly the calls that the control routes know", () => {
    const text = readFileSync(path.join(ROOT, "lib/http/node-control.ts"), "utf8");
    const known = [...text.matchAll(/case "([A-Z]+) ([^"]+)"/g)].map(
      ([, method, at]) => `${method} /api/node/${at?.replace(":id", "{id}")}`,
    );
    const control = routes.filter(({ served }) => served === "control");
    assert.deepEqual(control.map(({ method, path: at }) => `${method.toUpperCase()} ${at}`).sort(), known.sort());
  });

  it("knows the hot routes by the same paths as the hot path does", () => {
    for (const { path: at, served } of routes) {
      assert.equal(matchHotPath(at.replace("{id}", "7")) !== null, served === "hot", at);
    }
  });

  it("describes every route once", () => {
    const keys = routes.map(({ method, path: at }) => `${method} ${at}`);
    assert.deepEqual(keys, [...new Set(keys)]);
  });

  it("finds the route of a path, and calls what is none by one word", () => {
    const labels = {
      "/api/products/7/reduce-stock": "/api/products/{id}/reduce-stock",
      "/api/products/7/reduce-stock?x=1": "/api/products/{id}/reduce-stock",
      "/api/runs/latest": "/api/runs/latest",
      "/api/runs/abc": "/api/runs/{id}",
      "/api/nothing/7": "unknown",
      "/_next/static/x.js": "asset",
      "/runs/abc": "page",
    };
    for (const [url, label] of Object.entries(labels)) assert.equal(matchRoute(url).label, label, url);
  });

  it("asks for the admin token wherever something is written that is not a buyer's own", () => {
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
});

describe("the OpenAPI document", () => {
  const document = openApiDocument("1.2.3");

  it("has an operation for every route, with an id of its own and a status for each declared code", () => {
    const ids = routes.map(({ method, path: at }) => document.paths[at]?.[method]?.operationId);
    assert.equal(new Set(ids).size, routes.length);
    for (const route of routes) {
      const statuses = Object.keys(document.paths[route.path]?.[route.method]?.responses ?? {});
      for (const code of codesOf(route))
        assert.ok(statuses.includes(String(errorCodes[code])), `${route.path} ${code}`);
    }
  });

  it("describes bodies by the schemas that check them", () => {
    const body =
      document.paths["/api/products/{id}/reduce-stock"]?.post?.requestBody?.content["application/json"]?.schema;
    assert.deepEqual(body?.required, ["userId"]);
    assert.equal(body?.additionalProperties, false);
  });
});
