import assert from "node:assert/strict";
import type { StrategyTraits } from "../../../../lib/locks/types";
import { isSafe, type LockCase, withoutServer } from "../case";
import { SHORT_TTL_MS } from "../strategy-under-test";

const notRenewed = (traits: StrategyTraits): string | null => {
  if (traits.expiryClock === "none") return withoutServer(traits) ?? "nothing renews it: no clock ends its holds";
  return traits.expiryClock === "session" ? "nothing renews it: its holds last as long as their session" : null;
};

/** Holds whose ends fall around the moment at which a renewal is due, a third of the way through the lease. */
const ENDS = Array.from({ length: 12 }, (_, index) => SHORT_TTL_MS / 3 - 6 + index);

export const renewalAndRelease: LockCase = {
  name: () => "stays free after a release at the moment of its renewal",
  notApplicable: notRenewed,
  async run(subject) {
    await Promise.all(
      ENDS.map(async (holdMs) => {
        const request = subject.fresh({ ttlMs: SHORT_TTL_MS });
        const outcome = await subject.lock.runGuarded(request, () => subject.clients.clock.sleep(holdMs));
        assert.equal(outcome.status, "completed");
        assert.equal((await subject.tryNow(request)).status, "completed", `a hold of ${holdMs} ms has come back`);
      }),
    );
  },
};

/** A busy machine may hold up two renewals of three. */
const LONGER_TTL_MS = 2_000;

export const longSection: LockCase = {
  name: ({ ownerless }) =>
    ownerless
      ? "lets a second in while the section takes longer than the TTL: the flaw it is here to show"
      : "is still held when the section has taken longer than the TTL",
  notApplicable: (traits) =>
    !isSafe(traits) || traits.expiryClock === "none" ? (withoutServer(traits) ?? "no clock ends its holds") : null,
  async run(subject) {
    const request = subject.fresh({ ttlMs: LONGER_TTL_MS });
    const outcome = await subject.lock.runGuarded(request, async () => {
      await subject.clients.clock.sleep(1.25 * LONGER_TTL_MS);
      return subject.tryNow(request);
    });
    assert.ok(outcome.status === "completed");
    if (subject.traits.ownerless) return assert.equal(outcome.value.status, "completed", "something has renewed it");
    assert.equal(outcome.value.status, "contended", "two were in at once");
    assert.equal(outcome.lease, "held");
  },
};
