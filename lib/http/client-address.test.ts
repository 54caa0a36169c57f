import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseEnv } from "../services/env";
import { addressBehind, proxyList } from "./client-address";

function proxies(setting: string) {
  return proxyList(parseEnv({ DATABASE_URL: "postgresql://127.0.0.1/lab", TRUSTED_PROXIES: setting }).TRUSTED_PROXIES);
}

describe("the client's address", () => {
  it("is the other end of the connection if no trusted proxy sends the request, despite X-Forwarded-For", () => {
    assert.equal(addressBehind(proxies(""), "203.0.113.1", "198.51.100.7"), "203.0.113.1");
    assert.equal(addressBehind(proxies("192.0.2.1"), "203.0.113.1", "198.51.100.7"), "203.0.113.1");
  });

  it("is the last hop that is no trusted proxy, so that a client cannot choose it", () => {
    const trusted = proxies("192.0.2.1, 10.0.0.0/8, 2001:db8:1::/48");
    assert.equal(addressBehind(trusted, "192.0.2.1", "198.51.100.7"), "198.51.100.7");
    assert.equal(addressBehind(trusted, "::ffff:192.0.2.1", "6.6.6.6, 198.51.100.7"), "198.51.100.7");
    assert.equal(addressBehind(trusted, "192.0.2.1", "6.6.6.6, 198.51.100.7, 10.9.8.7"), "198.51.100.7");
    assert.equal(addressBehind(trusted, "2001:db8:1::5", "2001:db8:2::9"), "2001:db8:2::9");
  });

  it("is the nearest known hop if the header is absent, broken or names trusted proxies only", () => {
    const trusted = proxies("192.0.2.1,192.0.2.2");
    for (const header of [undefined, "", "unknown", "198.51.100.7, unknown", "192.0.2.1"]) {
      assert.equal(addressBehind(trusted, "192.0.2.1", header), "192.0.2.1");
    }
    assert.equal(addressBehind(trusted, "192.0.2.1", "unknown, 192.0.2.2"), "192.0.2.2");
    assert.equal(addressBehind(trusted, "", "198.51.100.7"), "");
  });

  it("is configured with addresses and networks, and nothing else", () => {
    for (const wrong of [
      "nginx",
      "10.0.0.0/33",
      "10.0.0.0/",
      "10.0.0.0/8/8",
      "2001:db8::/129",
      "10.0.0/8",
      "10.0.0.0/-1",
    ]) {
      assert.throws(() => proxies(wrong), /TRUSTED_PROXIES: "[^"]+" must be an address or a network/, wrong);
    }
  });
});
