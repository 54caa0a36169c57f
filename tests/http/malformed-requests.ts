import fc from "fast-check";
import type { Operation } from "../../lib/http/openapi";
import type { Contract } from "../support/contract";
import type { RawRequest } from "../support/raw-request";
import { exampleBody, type Schema } from "./example-body";

/** Generates requests with one mistake each: a valid example from the OpenAPI document, and a mutation. */

export interface Malformed {
  readonly route: { readonly method: string; readonly path: string };
  /** The mistake. */
  readonly what: string;
  readonly request: RawRequest;
  /** True if only a 4xx or a declared 5xx is a correct answer. */
  readonly mustBeRefused: boolean;
}

export interface FuzzOptions {
  readonly contract: Contract;
  readonly adminToken: string;
}

const junk = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    "",
    " ",
    [],
    {},
    -1,
    0.5,
    1e308,
    -0,
    "NaN",
    "\u0000",
    "😀",
    "'; DROP TABLE orders; --",
  ),
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.double({ noNaN: true }),
  fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 3 }),
  fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
);

const badIds = fc.oneof(
  fc.constantFrom(
    ...["0", "-1", "1.5", "1e3", "0x10", "99999999999", "2147483648", "NaN", "null", "undefined", "%20", "%00", "%0a"],
    ...[
      "..%2f..%2fetc%2fpasswd",
      "%2e%2e",
      "%zz",
      "%",
      "%c3%28",
      "%F0%9F%98%80",
      "__proto__",
      "constructor",
      "1;1",
      "'",
      "%27",
    ],
    ...["%5c..%5c", "a".repeat(300), "1%2F2", "1 ", "*", "{id}", "%252e%252e", "😀".repeat(9)],
  ),
  fc.webPath({ size: "small" }).map((path) => encodeURIComponent(`${path}/`)),
  fc.string({ minLength: 1, maxLength: 12 }).map(encodeURIComponent),
);

/** One malformed request of a route. */
export function malformed(route: { method: string; path: string; operation: Operation }, options: FuzzOptions) {
  const { operation } = route;
  const kinds = [brokenHeader(route, options), wrongMethod(route, options), oddQuery(route, options)];
  if (operation.parameters.some((parameter) => parameter.in === "path")) kinds.push(badPath(route, options));
  if (operation.requestBody) kinds.push(badText(route, options), badValue(route, options), badValue(route, options));
  return fc.oneof(...kinds);
}

type Target = { method: string; path: string; operation: Operation };

function badPath(route: Target, options: FuzzOptions): fc.Arbitrary<Malformed> {
  return badIds.map((id) => {
    // A generated number may be a valid id.
    const path = fill(route.path, wireSafe(/^[1-9][0-9]{0,9}$/.test(id) ? `-${id}` : id));
    const request = { ...valid(route, options), path };
    return made(route, { what: `id ${id.slice(0, 30)}`, request, mustBeRefused: isSaleRoute(route) });
  });
}

/** Bodies that are not JSON, or not sent as JSON. */
function badText(route: Target, options: FuzzOptions): fc.Arbitrary<Malformed> {
  const good = JSON.stringify(exampleBody(route.operation));
  const texts: fc.Arbitrary<{ what: string; body: string | Buffer; type?: string }> = fc.oneof(
    fc.constantFrom(
      { what: "empty body", body: "" },
      { what: "cut short", body: good.slice(0, -1) },
      {
        what: "invalid UTF-8",
        body: Buffer.concat([Buffer.from('{"\xff\xfe":'), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from("}")]),
      },
      { what: "byte order mark", body: `\ufeff${good}x` },
      { what: "deep nesting", body: `${"[".repeat(450)}${"]".repeat(450)}` },
      { what: "two values", body: `${good}${good}` },
      { what: "huge body", body: JSON.stringify({ filler: "x".repeat(200_000) }) },
      { what: "a number too large", body: "1e999" },
      { what: "comments", body: `/* */ ${good} //` },
      { what: "text/plain", body: good, type: "text/plain" },
      { what: "a form", body: "userId=a&quantity=1", type: "application/x-www-form-urlencoded" },
      { what: "no content type", body: good, type: "" },
      { what: "a content type that starts with a valid one", body: good, type: "application/jsonp" },
      { what: "multipart", body: "--x\r\n\r\n--x--", type: "multipart/form-data; boundary=x" },
    ),
    fc.string({ unit: "binary", maxLength: 200 }).map((text) => ({ what: "noise", body: `{${text}` })),
    junk.map((value) => ({ what: "another JSON value", body: JSON.stringify([value]) })),
  );
  return texts.map(({ what, body, type = "application/json" }) => {
    const { headers = {}, ...request } = valid(route, options);
    const { "content-type": _, ...others } = headers;
    const contentType: Record<string, string> = type === "" ? {} : { "content-type": type };
    const sent = { ...request, headers: { ...others, ...contentType }, body };
    return made(route, { what, request: sent, mustBeRefused: true });
  });
}

/** A valid body with one change: a field of another type, a missing or unknown field, or a key that targets a prototype. */
function badValue(route: Target, options: FuzzOptions): fc.Arbitrary<Malformed> {
  const schema = (route.operation.requestBody?.content["application/json"]?.schema ?? {}) as Schema;
  const example = exampleBody(route.operation) as Record<string, unknown>;
  const fields = Object.keys(schema.properties ?? {});
  const required = schema.required ?? [];
  const unknownField = fc
    .tuple(fc.stringMatching(/^[a-z_]{1,12}$/), junk)
    .map(([field, value]) => ({ [`${field}_`]: value }));
  const prototypeKeys = fc.constantFrom(
    '"__proto__":{"isAdmin":true}',
    '"constructor":{"prototype":{"x":1}}',
    '"toString":1',
  );
  const edits: fc.Arbitrary<{ what: string; text: string }>[] = [
    unknownField.map((edit) => ({ what: "an unknown field", text: JSON.stringify({ ...example, ...edit }) })),
    prototypeKeys.map((text) => ({
      what: "prototype",
      text: JSON.stringify(example).replace(/\}$/, `,${text}}`).replace("{,", "{"),
    })),
  ];
  if (fields.length > 0) {
    const changed = fc.tuple(fc.constantFrom(...fields), junk);
    edits.push(
      changed.map(([field, value]) => ({
        what: `changed ${field}`,
        text: JSON.stringify({ ...example, [field]: value }),
      })),
    );
  }
  if (required.length > 0) {
    edits.push(
      fc.constantFrom(...required).map((field) => {
        const { [field]: _, ...rest } = example;
        return { what: `without ${field}`, text: JSON.stringify(rest) };
      }),
    );
  }
  return fc.oneof(...edits).map(({ what, text }) => {
    // Junk that the schema accepts by chance is replaced by a body that it rejects.
    const isValid = options.contract.accepts(route.operation, JSON.parse(text)) && !text.includes("__proto__");
    const request = { ...valid(route, options), body: isValid ? "{" : text };
    return made(route, { what, request, mustBeRefused: true });
  });
}

function oddQuery(route: Target, options: FuzzOptions): fc.Arbitrary<Malformed> {
  const names = [
    ...route.operation.parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name),
    "x",
  ];
  const values = fc.oneof(
    fc.constantFrom("", "-1", "0", "abc", "1e9", "%00", "[]", "%zz"),
    fc.string().map(encodeURIComponent),
  );
  return fc.tuple(fc.constantFrom(...names), values).map(([name, value]) => {
    const { path, ...request } = valid(route, options);
    const query = `?${name}=${value}&${name}[__proto__]=1`;
    const sent = withBrokenBody(route, { ...request, path: `${path}${query}` });
    return made(route, { what: `query ${name}`, request: sent, mustBeRefused: false });
  });
}

function brokenHeader(route: Target, options: FuzzOptions): fc.Arbitrary<Malformed> {
  const broken = fc.constantFrom<{ what: string; headers: Record<string, string>; refuse?: true }>(
    { what: "another host", headers: { host: "evil.example" }, refuse: true },
    { what: "a host with a path", headers: { host: "127.0.0.1/../x" }, refuse: true },
    { what: "a host that starts with a valid name", headers: { host: "localhost.evil.example:3000" }, refuse: true },
    { what: "another site", headers: { origin: "http://evil.example", "sec-fetch-site": "cross-site" } },
    { what: "an origin that is null", headers: { origin: "null" } },
    { what: "a wrong token", headers: { authorization: "Bearer wrong-wrong-wrong" } },
    { what: "another scheme", headers: { authorization: "Basic YTpi" } },
    { what: "a forged session", headers: { cookie: "lab_session=0; lab_session=1; __proto__=2" } },
    { what: "a request id that breaks the log line", headers: { "x-request-id": '"}{"level":"fatal"' } },
    { what: "a run that is not open", headers: { "x-run-id": "long-gone", "x-run-key": "00000000000000000000" } },
    { what: "a long header", headers: { "x-run-id": "r".repeat(6_000) } },
    { what: "a forwarded host", headers: { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" } },
    { what: "Next's own headers", headers: { "x-middleware-subrequest": "a:a:a:a:a", rsc: "1", "next-action": "x" } },
    { what: "a content security policy", headers: { "content-security-policy": "script-src 'nonce-<x>'" } },
    { what: "an odd accept", headers: { accept: "*/*;q=2,,,;", "accept-encoding": "br;q=x", range: "bytes=9-1" } },
  );
  return broken.map(({ what, headers, refuse = false }) => {
    const request = valid(route, options);
    const sent = withBrokenBody(route, { ...request, headers: { ...request.headers, ...headers } });
    return made(route, { what, request: sent, mustBeRefused: refuse });
  });
}

function wrongMethod(route: Target, options: FuzzOptions): fc.Arbitrary<Malformed> {
  const known = Object.keys(options.contract.document.paths[route.path] ?? {});
  const others = ["get", "post", "put", "patch", "delete", "trace", "propfind", "purge"].filter(
    (method) => !known.includes(method),
  );
  return fc.constantFrom(...others).map((method) => {
    const request = valid(route, options);
    const sent = { ...request, method: method.toUpperCase() };
    return made(route, { what: `method ${method}`, request: sent, mustBeRefused: true });
  });
}

function made({ method, path }: Target, rest: Omit<Malformed, "route">): Malformed {
  return { route: { method, path }, ...rest };
}

/** For a mutation that a route may accept: also breaks the body, if the route has one, so that nothing can change. */
function withBrokenBody(route: Target, request: RawRequest): RawRequest {
  return route.operation.requestBody ? { ...request, body: "{" } : request;
}

function isSaleRoute({ path }: Target): boolean {
  return path.includes("/products/") || path.includes("/coupons/");
}

/** A valid request. On a lab without runs, products and coupons it gets a 404 or reads something. */
function valid(route: Target, { adminToken }: FuzzOptions): RawRequest {
  const { method, path, operation } = route;
  const headers: Record<string, string> = { authorization: `Bearer ${adminToken}` };
  if (!operation.requestBody) return { method: method.toUpperCase(), path: fill(path, "1"), headers };
  headers["content-type"] = "application/json";
  return { method: method.toUpperCase(), path: fill(path, "1"), headers, body: JSON.stringify(exampleBody(operation)) };
}

function fill(path: string, id: string): string {
  return path.replace(/\{[a-zA-Z]+\}/g, () => id);
}

/** Encodes only the characters that Node's HTTP client cannot send. */
function wireSafe(id: string): string {
  return id
    .replace(/[^\x21-\xff]/gu, (letter) => encodeURIComponent(letter))
    .replace(/[\x80-\xff]/g, encodeURIComponent);
}
