import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isHttpError } from "./errors";
import { isRightToken } from "./token-guesses";

const TOKEN = "the admin token";
const isRight = (address: string, given = TOKEN) => isRightToken({ given, expected: TOKEN, address });

/** @returns how many different wrong tokens were compared before the address was throttled */
function wrongUntilThrottled(addresses: readonly string[]): number {
  for (let count = 0; count < 50; count += 1) {
    try {
      assert.equal(isRight(addresses[count % addresses.length] ?? "", `wrong ${count}`), false);
    } catch (error) {
      assert.ok(isHttpError(error) && error.code === "rate_limited" && (error.retryAfterSeconds ?? 0) >= 1);
      return count;
    }
  }
  assert.fail("expected the guesses to be throttled, found 50 compared");
}

describe("guesses of the admin token", () => {
  it("are throttled per address after ten, and leave other addresses alone", () => {
    assert.equal(wrongUntilThrottled(["203.0.113.1"]), 10);
    assert.equal(isRight("203.0.113.2"), true);
    assert.throws(() => isRight("203.0.113.1"), { code: "rate_limited" });
  });

  it("do not count right tokens, however many a client sends", () => {
    for (let count = 0; count < 1_000; count += 1) assert.ok(isRight("203.0.113.3"));
    assert.equal(wrongUntilThrottled(["203.0.113.3"]), 10);
  });

  it("count a repeated wrong token once, so that a client with an old token blocks no other behind its address", () => {
    for (let count = 0; count < 1_000; count += 1) assert.equal(isRight("203.0.113.4", "the old token"), false);
    assert.equal(isRight("203.0.113.4"), true);
    assert.equal(wrongUntilThrottled(["203.0.113.4"]), 9);
    assert.equal(isRight("203.0.113.4", "the old token"), false, "expected a known wrong token to be refused as wrong");
  });

  it("are forgotten beyond 10,000, and counted again then", () => {
    for (let at = 0; at < 10_001; at += 1) isRight(`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`, "the old token");
    for (let count = 0; count < 9; count += 1) isRight("10.0.0.0", `wrong ${count}`);
    assert.equal(isRight("10.0.0.0", "the old token"), false);
    assert.throws(() => isRight("10.0.0.0"), { code: "rate_limited" }, "expected the old token to count again");
  });

  it("count together for one client's IPv6 network, and for both forms of an IPv4 address", () => {
    const network = ["2001:db8:0:7::1", "2001:db8::7:aaaa:0:0:2", "2001:0db8:0:7:ffff:1:2:3".replace("0db8", "db8")];
    assert.equal(wrongUntilThrottled(network), 10);
    assert.equal(isRight("2001:db8:0:8::1"), true);
    assert.equal(wrongUntilThrottled(["203.0.113.9", "::ffff:203.0.113.9"]), 10);
  });
});
