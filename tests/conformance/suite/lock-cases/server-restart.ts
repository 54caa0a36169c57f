import assert from "node:assert/strict";
import type { LockOutcome } from "../../../../lib/locks/types";
import { holdLock, isUnreachable } from "../../../support/hold-lock";
import { startOwnService } from "../../../support/own-service";
import { waitUntil } from "../../../support/wait-until";
import { type LockCase, withoutServer } from "../case";

/** Longer than the case, so no lease expires. */
const TTL_MS = 60_000;
const SETTLED_MS = 30_000;
/** Shorter than the outage, but long enough to detect it. */
const SHORT_WAIT_MS = 2_500;

/**
 * Repeats the call until it returns one of the statuses. While the server is down, the call must fail with a typed
 * error.
 */
async function callUntil(answers: readonly string[], call: () => Promise<LockOutcome<void>>): Promise<void> {
  let latest = "nothing";
  const isAnswered = async () => {
    const [settled] = await Promise.allSettled([call()]);
    latest = settled.status === "fulfilled" ? settled.value.status : String(settled.reason);
    if (settled.status === "fulfilled") return answers.includes(settled.value.status);
    if (!isUnreachable(settled.reason)) throw settled.reason;
    return false;
  };
  const what = `the restarted server to answer ${answers.join(" or ")}`;
  const [waited] = await Promise.allSettled([waitUntil(isAnswered, { what, withinMs: SETTLED_MS })]);
  if (waited.status === "rejected")
    throw new Error(`the last answer of the restarted server was: ${latest}`, { cause: waited.reason });
}

export const serverRestart: LockCase = {
  name: ({ survives }) =>
    survives.serverRestart === "breaks"
      ? "reports a lost server to a waiter, and grants a second holder after the restart: the flaw it demonstrates"
      : "reports a lost server to a waiter, and grants no second holder after the restart unless the first one was signalled",
  notApplicable: withoutServer,
  async run(tested) {
    if (!tested.service) return;
    await using own = await startOwnService(tested.service);
    await using opened = await tested.open(own.servers);
    // A separate client, because the holder's client may reconnect last.
    await using other = await tested.open(own.servers);
    const request = tested.fresh({ ttlMs: TTL_MS });
    await using holder = await holdLock(opened.lock, request);
    /** For each second holder: whether the first one had been signalled the loss. */
    const secondHolders: ("known" | "unknown")[] = [];
    let isHolderIn = true;
    const enter = async () => {
      if (isHolderIn) secondHolders.push(holder.grant.signal.aborted ? "known" : "unknown");
    };
    const shortWait = opened.lock.runGuarded({ ...request, waitTimeoutMs: SHORT_WAIT_MS }, enter);
    const longWait = opened.lock.runGuarded({ ...request, waitTimeoutMs: 20_000 }, enter);
    const waiting = Promise.allSettled([shortWait, longWait]);
    await own.kill();
    await assert.rejects(shortWait, isUnreachable);
    await own.start();
    const isBroken = tested.traits.survives.serverRestart === "breaks";
    const tryAgain = () => other.lock.runGuarded({ ...request, waitTimeoutMs: 0 }, enter);
    await callUntil(isBroken ? ["completed"] : ["completed", "contended"], tryAgain);
    isHolderIn = false;
    await Promise.allSettled([holder.leave()]);
    if (isBroken) assert.ok(secondHolders.length > 0, "expected a second holder after the restart, found none");
    else assert.ok(!secondHolders.includes("unknown"), "a second holder entered before the first one was signalled");
    const [, settled] = await waiting;
    assert.ok(
      settled.status === "fulfilled" || isUnreachable(settled.reason),
      "the waiter did not get a typed LockError",
    );
  },
};
