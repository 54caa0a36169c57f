import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { z } from "zod";
import { json, type WholeAnswer } from "./answer";
import type { RawRequest } from "./raw-request";
import { type ApiRequest, type Route, route } from "./route";
import type { PathRoutes } from "./route-matcher";
import { rowId } from "./routes/fields";

// @alone: it sets the environment before any module reads it.
const ADMIN_TOKEN = "the admin token";

type Sent = Partial<Omit<RawRequest, "readBody">> & { readonly body?: string };

describe("dispatch", () => {
  let dispatch: typeof import("./dispatch").dispatch;
  let noViews: typeof import("./run-views").NO_VIEWS;
  /** What reached the handler. */
  let seen: ApiRequest<unknown, unknown, unknown> | null = null;

  const handler = (request: ApiRequest<unknown, unknown, unknown>) => {
    seen = request;
    return json({ ok: true });
  };
  const open = { path: "/api/things/{id}", summary: "", tag: "lab", answers: {}, errors: [], handler } as const;
  const write = route({
    ...open,
    method: "post",
    access: "admin",
    params: { id: rowId },
    query: z.strictObject({ limit: z.coerce.number().int().default(5) }),
    headers: { "x-note": { schema: z.string().max(3), description: "" } },
    body: z.strictObject({ name: z.string() }),
    maxBodyBytes: 40,
    errorHeaders: () => ({ "x-store-node": "node-1" }),
  });

  before(async () => {
    Object.assign(process.env, {
      DATABASE_URL: "postgresql://lab@127.0.0.1:1/none",
      LAB_ADMIN_TOKEN: ADMIN_TOKEN,
      LOG_LEVEL: "silent",
    });
    ({ dispatch } = await import("./dispatch"));
    ({ NO_VIEWS: noViews } = await import("./run-views"));
  });

  async function send(entry: Route, values: readonly string[], sent: Sent = {}): Promise<WholeAnswer> {
    seen = null;
    const { body = '{"name":"n"}', headers, ...rest } = sent;
    const raw: RawRequest = {
      method: entry.method.toUpperCase(),
      url: "/api/things/7",
      address: "127.0.0.1",
      headers: { "content-type": "application/json", authorization: `Bearer ${ADMIN_TOKEN}`, ...headers },
      readBody: async (limit) => (body.length > limit ? null : body),
      closeSignal: () => new AbortController().signal,
      ...rest,
    };
    const paramNames = Object.keys(entry.params ?? {});
    const byMethod = new Map([[entry.method.toUpperCase(), entry]]);
    const routes: PathRoutes = { path: entry.path, byMethod, paramNames, allow: "POST", isStream: false };
    const match = { kind: "api", label: entry.path, routes, values } as const;
    return (await dispatch(raw, match, noViews)) as WholeAnswer;
  }

  it("gives the handler parsed parameters, query and body", async () => {
    assert.equal((await send(write, ["7"], { url: "/api/things/7?limit=9" })).status, 200);
    assert.deepEqual([seen?.params, seen?.query, seen?.body], [{ id: 7 }, { limit: 9 }, { name: "n" }]);
  });

  it("decodes a parameter once", async () => {
    assert.equal((await send(write, ["%37"])).status, 200);
    assert.deepEqual(seen?.params, { id: 7 });
    assert.equal((await send(write, ["%2537"])).code, "invalid_request");
  });

  const rejected: readonly (readonly [string, string, string | undefined, Sent, string?])[] = [
    ["an invalid parameter", "invalid_request", "id", {}, "seven"],
    ["a parameter with a broken encoding", "invalid_request", "id", {}, "%zz"],
    ["an unknown query field", "invalid_request", "x", { url: "/api/things/7?x=1" }],
    ["an invalid query field", "invalid_request", "limit", { url: "/api/things/7?limit=many" }],
    ["an invalid header", "invalid_request", "x-note", { headers: { "x-note": "long" } }],
    ["a body that is not JSON", "invalid_request", "body", { body: "{" }],
    ["an unknown body field", "invalid_request", "price", { body: '{"name":"n","price":1}' }],
    ["a body field of the wrong type", "invalid_request", "name", { body: '{"name":1}' }],
    ["a body above the limit", "body_too_large", "body", { body: `{"name":"${"n".repeat(40)}"}` }],
    ["another content type", "unsupported_media_type", "content-type", { headers: { "content-type": "text/plain" } }],
    ["a missing admin token", "admin_token_required", undefined, { headers: { authorization: undefined } }],
    ["a wrong admin token", "admin_token_required", undefined, { headers: { authorization: "Bearer x" } }],
    ["a request of another site", "cross_site", undefined, { headers: { "sec-fetch-site": "cross-site" } }],
    ["a foreign origin", "cross_site", undefined, { headers: { origin: "http://evil.example", host: "localhost" } }],
    ["another method", "method_not_allowed", undefined, { method: "PUT" }],
  ];
  for (const [what, code, field, sent, value = "7"] of rejected) {
    it(`rejects ${what} with ${code} before the handler runs`, async () => {
      const answer = await send(write, [value], sent);
      const { error } = JSON.parse(answer.body) as { error: { code: string; details?: { field?: string } } };
      assert.deepEqual([answer.code, error.code, error.details?.field], [code, code, field]);
      assert.equal(answer.headers["x-error-code"], code);
      assert.equal(answer.headers["x-store-node"], "node-1", "expected the route's own error headers");
      assert.equal(seen, null);
    });
  }

  it("reads no body and needs no token for an open route without a body", async () => {
    const read = route({ ...open, method: "get", access: "anyone" });
    const readBody = () => Promise.reject(new Error("the body was read"));
    assert.equal((await send(read, [], { headers: {}, ...{ readBody } })).status, 200);
  });

  it("answers OPTIONS with the supported methods", async () => {
    const { status, headers } = await send(write, ["7"], { method: "OPTIONS" });
    assert.deepEqual([status, headers.allow], [204, "POST, OPTIONS"]);
  });

  for (const thrown of [new TypeError("a secret"), "a secret"]) {
    it(`answers internal_error without the cause if the handler throws ${typeof thrown}`, async () => {
      const broken = route({
        ...open,
        method: "get",
        access: "anyone",
        handler: () => {
          throw thrown;
        },
      });
      const { code, body } = await send(broken, []);
      assert.equal(code, "internal_error");
      assert.doesNotMatch(body, /secret/);
    });
  }
});
