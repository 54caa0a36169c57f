import assert from "node:assert/strict";
import { LockError } from "../../../../lib/locks/errors";
import type { StrategyTraits } from "../../../../lib/locks/types";
import { waitUntil } from "../../../support/wait-until";
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
        const isSettled = async () => {
          const request = tested.fresh({ ttlMs: SHORT_TTL_MS });
          const first = await answered(tested.lock.runGuarded(request, () => tested.clients.clock.sleep(holdMs)));
          // A call does not wait longer for a busy server: the release continues, and the lock may still be held.
          if (first?.status !== "completed" || first.timings.releaseMs > ANSWERED_WITHIN_MS) return false;
          const next = await answered(
            tested.lock.runGuarded({ ...request, waitTimeoutMs: NEXT_WAIT_MS }, async () => undefined),
          );
          if (next === null) return false;
          assert.equal(next.status, "completed", `a renewal restored the hold of ${holdMs} ms after its release`);
          return true;
        };
        await waitUntil(isSettled, { what: `${tested.lock.id} to answer a release in time`, withinMs: 60_000 });
      }),
    );
  },
};

/** A server that did not answer within the wait shows nothing: null. */
async function answered<T>(call: Promise<T>): Promise<T | null> {
  return call.catch((error: unknown) => {
    if (error instanceof LockError && error.code === "backend_unavailable") return null;
    throw error;
  });
}

const ANSWERED_WITHIN_MS = 500;

/** Shorter than what a restored hold would last, so that its expiry does not hide it. */
const NEXT_WAIT_MS = SHORT_TTL_MS / 2;

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
