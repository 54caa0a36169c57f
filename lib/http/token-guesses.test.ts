import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isHttpError } from "./errors";
import { checkGuess } from "./token-guesses";

/** @returns how many wrong tokens were compared before the address was throttled */
function wrongUntilThrottled(addresses: readonly string[]): number {
  for (let count = 0; count < 50; count += 1) {
    try {
      checkGuess(addresses[count % addresses.length] ?? "", () => false);
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
    assert.equal(
      checkGuess("203.0.113.2", () => true),
      true,
    );
    assert.throws(() => checkGuess("203.0.113.1", () => assert.fail("expected no comparison")), {
      code: "rate_limited",
    });
  });

  it("do not count right tokens, however many a client sends", () => {
    for (let count = 0; count < 1_000; count += 1) assert.ok(checkGuess("203.0.113.3", () => true));
    assert.equal(wrongUntilThrottled(["203.0.113.3"]), 10);
  });

  it("count together for one client's IPv6 network, and for both forms of an IPv4 address", () => {
    const network = ["2001:db8:0:7::1", "2001:db8::7:aaaa:0:0:2", "2001:0db8:0:7:ffff:1:2:3".replace("0db8", "db8")];
    assert.equal(wrongUntilThrottled(network), 10);
    assert.equal(
      checkGuess("2001:db8:0:8::1", () => true),
      true,
    );
    assert.equal(wrongUntilThrottled(["203.0.113.9", "::ffff:203.0.113.9"]), 10);
  });
});
