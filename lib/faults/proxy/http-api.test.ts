import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { systemClock } from "../../locks/clock";
import { systemRandom } from "../../locks/random";
import { serveToxiproxyApi } from "./http-api";

async function api(t: TestContext) {
  const served = await serveToxiproxyApi({ host: "127.0.0.1", port: 0 }, { clock: systemClock, random: systemRandom });
  t.after(() => served[Symbol.asyncDispose]());
  const url = `http://127.0.0.1:${served.port}`;
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json");
    return { status: response.status, body: isJson ? JSON.parse(text) : text };
  };
  return Object.assign(call, { url });
}

const PROXY = { name: "redis", listen: "127.0.0.1:0", upstream: "127.0.0.1:6379" };

/** tests/interop/toxiproxy.test.ts sends the same requests to Toxiproxy itself. */
describe("the HTTP API of the proxy", () => {
  it("refuses a browser, whose page may be of any site", async (t) => {
    const call = await api(t);
    const { status } = await fetch(`${call.url}/proxies`, { headers: { "user-agent": "Mozilla/5.0" } });
    assert.equal(status, 403);
  });

  it("answers a body that is not JSON or is too large with status 400", async (t) => {
    const call = await api(t);
    assert.deepEqual((await call("POST", "/proxies", "{")).status, 400);
    const huge = await call("POST", "/proxies", { name: "x".repeat(1_000_001) });
    assert.deepEqual(huge.body, { error: "bad request body: more than 1000000 bytes", status: 400 });
  });

  it("names the port that it chose, and keeps a proxy whose port is taken out of the list", async (t) => {
    const call = await api(t);
    const { listen } = (await call("POST", "/proxies", PROXY)).body as { listen: string };
    assert.match(listen, /^127\.0\.0\.1:[1-9]\d+$/);
    const second = await call("POST", "/proxies", { ...PROXY, name: "second", listen });
    assert.equal(second.status, 500);
    assert.deepEqual(Object.keys((await call("GET", "/proxies")).body), ["redis"]);
  });
});
