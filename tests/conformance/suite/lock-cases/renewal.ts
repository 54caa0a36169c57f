import assert from "node:assert/strict";
import type { StrategyTraits } from "../../../../lib/locks/types";
import { isSafe, type LockCase, withoutServer } from "../case";
import { SHORT_TTL_MS } from "../strategy-under-test";

const notRenewed = (traits: StrategyTraits): string | null => {
  if (traits.expiryClock === "none")
    return withoutServer(traits) ?? "it is never renewed, because its holds do not expire";
  return traits.expiryClock === "session"
    ? "it is never renewed, because its holds last as long as their session"
    : null;
};

/** Hold times around the first renewal, at a third of the lease. */
const ENDS = Array.from({ length: 12 }, (_, index) => SHORT_TTL_MS / 3 - 6 + index);

export const renewalAndRelease: LockCase = {
  name: () => "stays free if a renewal and the release coincide",
  notApplicable: notRenewed,
  async run(tested) {
    await Promise.all(
      ENDS.map(async (holdMs) => {
        const request = tested.fresh({ ttlMs: SHORT_TTL_MS });
        const outcome = await tested.lock.runGuarded(request, () => tested.clients.clock.sleep(holdMs));
        assert.equal(outcome.status, "completed");
        assert.equal(
          (await tested.tryNow(request)).status,
          "completed",
          `a renewal restored the hold of ${holdMs} ms after its release`,
        );
      }),
    );
  },
};

/** Long enough that a busy machine delays at most two of three renewals. */
const LONGER_TTL_MS = 2_000;

export const longSection: LockCase = {
  name: ({ ownerless }) =>
    ownerless
      ? "grants a second holder if the section takes longer than the TTL: the flaw it demonstrates"
      : "is still held if the section takes longer than the TTL",
  notApplicable: (traits) =>
    !isSafe(traits) || traits.expiryClock === "none" ? (withoutServer(traits) ?? "its holds do not expire") : null,
  async run(tested) {
    const request = tested.fresh({ ttlMs: LONGER_TTL_MS });
    const outcome = await tested.lock.runGuarded(request, async () => {
      await tested.clients.clock.sleep(1.25 * LONGER_TTL_MS);
      return tested.tryNow(request);
    });
    assert.ok(outcome.status === "completed");
    if (tested.traits.ownerless)
      return assert.equal(
        outcome.value.status,
        "completed",
        "expected the unrenewed lease to expire, but it was still held",
      );
    assert.equal(outcome.value.status, "contended", "a second holder entered");
    assert.equal(outcome.lease, "held");
  },
};
