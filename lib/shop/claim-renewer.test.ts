import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { ClaimRenewer, RENEW_EVERY_MS } from "./claim-renewer";
import type { HeldClaim } from "./idempotency-keys";
import { useFakes } from "./testing/use-fakes";

function makeClaim(claimId: string): HeldClaim {
  return { name: ["buyer", "route", `key-of-${claimId}`], claimId };
}

/** Runs `test` with a mocked interval and the IDs of each renewal's claims. */
function withRenewals(test: (renewer: ClaimRenewer, renewals: string[][]) => void, error?: Error): void {
  mock.timers.enable({ apis: ["setInterval"] });
  try {
    const renewals: string[][] = [];
    const renewer = new ClaimRenewer(async (claims) => {
      renewals.push(claims.map(({ claimId }) => claimId));
      if (error) throw error;
    });
    test(renewer, renewals);
  } finally {
    mock.timers.reset();
  }
}

describe("ClaimRenewer", () => {
  const fakes = useFakes();

  it("renews all claims together, once per interval", () => {
    withRenewals((renewer, renewals) => {
      renewer.add(makeClaim("a"));
      renewer.add(makeClaim("b"));
      mock.timers.tick(2 * RENEW_EVERY_MS);
      assert.deepEqual(renewals, [
        ["a", "b"],
        ["a", "b"],
      ]);
    });
  });

  it("stops renewing a claim that was removed, and stops its timer after the last one", () => {
    withRenewals((renewer, renewals) => {
      const [first, second] = [makeClaim("a"), makeClaim("b")];
      renewer.add(first);
      renewer.add(second);
      renewer.remove(first);
      mock.timers.tick(RENEW_EVERY_MS);
      renewer.remove(second);
      mock.timers.tick(2 * RENEW_EVERY_MS);
      assert.deepEqual(renewals, [["b"]]);
    });
  });

  it("starts again with the next claim", () => {
    withRenewals((renewer, renewals) => {
      const claim = makeClaim("a");
      renewer.add(claim);
      renewer.remove(claim);
      renewer.add(makeClaim("b"));
      mock.timers.tick(RENEW_EVERY_MS);
      assert.deepEqual(renewals, [["b"]]);
    });
  });

  it("logs a renewal that failed and retries at the next interval", async () => {
    withRenewals((renewer, renewals) => {
      renewer.add(makeClaim("a"));
      mock.timers.tick(2 * RENEW_EVERY_MS);
      assert.equal(renewals.length, 2);
    }, new Error("connection lost"));
    await new Promise(setImmediate);
    assert.equal(fakes.warnings.length, 2);
  });
});
