import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ClaimRenewer, RENEW_EVERY_MS } from "./claim-renewer";
import type { HeldClaim } from "./idempotency-keys";
import { FakeTimers } from "./testing/fake-timers";
import { useFakes } from "./testing/use-fakes";

function makeClaim(claimId: string): HeldClaim {
  return { name: ["buyer", "route", `key-of-${claimId}`], claimId };
}

/** A renewer, and the IDs of the claims that each renewal received. */
function makeRenewer(error?: Error) {
  const renewals: string[][] = [];
  const renewer = new ClaimRenewer(async (claims) => {
    renewals.push(claims.map(({ claimId }) => claimId));
    if (error) throw error;
  });
  return { renewer, renewals };
}

describe("ClaimRenewer", () => {
  const fakes = useFakes();

  it("renews all claims together, once per interval", () => {
    using timers = new FakeTimers();
    const { renewer, renewals } = makeRenewer();
    renewer.add(makeClaim("a"));
    renewer.add(makeClaim("b"));
    timers.advance(2 * RENEW_EVERY_MS);
    const both = ["a", "b"];
    assert.deepEqual(renewals, [both, both]);
  });

  it("stops renewing a claim that was removed, and stops its timer after the last one", () => {
    using timers = new FakeTimers();
    const { renewer, renewals } = makeRenewer();
    const [first, second] = [makeClaim("a"), makeClaim("b")];
    renewer.add(first);
    renewer.add(second);
    renewer.remove(first);
    timers.advance(RENEW_EVERY_MS);
    renewer.remove(second);
    timers.advance(2 * RENEW_EVERY_MS);
    assert.deepEqual(renewals, [["b"]]);
  });

  it("starts again with the next claim", () => {
    using timers = new FakeTimers();
    const { renewer, renewals } = makeRenewer();
    const claim = makeClaim("a");
    renewer.add(claim);
    renewer.remove(claim);
    renewer.add(makeClaim("b"));
    timers.advance(RENEW_EVERY_MS);
    assert.deepEqual(renewals, [["b"]]);
  });

  it("logs a renewal that failed and retries at the next interval", async () => {
    using timers = new FakeTimers();
    const { renewer, renewals } = makeRenewer(new Error("connection lost"));
    renewer.add(makeClaim("a"));
    timers.advance(2 * RENEW_EVERY_MS);
    assert.equal(renewals.length, 2);
    await new Promise(setImmediate);
    assert.equal(fakes.warnings.length, 2);
  });
});
