import assert from "node:assert/strict";
import { isLockError } from "../../../../lib/locks/errors";
import type { LockOutcome } from "../../../../lib/locks/types";
import { startOwnService } from "../../../support/own-service";
import { stayIn } from "../../../support/stay";
import { waitUntil } from "../../../support/wait-until";
import { type LockCase, withoutServer } from "../case";

/** Longer than the case: no lease runs out by itself. */
const TTL_MS = 60_000;
const SETTLED_MS = 30_000;
/** Shorter than the outage, and long enough to notice it. */
const HASTY_MS = 2_500;
const UNREACHABLE = ["backend_unavailable", "quorum_failed"];

const isUnreachable = (error: unknown) => isLockError(error) && UNREACHABLE.includes(error.code);

/** Calls until the answer is one of those; while the server is not back, it is a typed error. */
async function callUntil(answers: readonly string[], call: () => Promise<LockOutcome<void>>): Promise<void> {
  let latest = "nothing";
  const isAnswered = async () => {
    const [settled] = await Promise.allSettled([call()]);
    latest = settled.status === "fulfilled" ? settled.value.status : String(settled.reason);
    if (settled.status === "fulfilled") return answers.includes(settled.value.status);
    if (!isUnreachable(settled.reason)) throw settled.reason;
    return false;
  };
  const what = `the server to serve again: ${answers.join(" or ")}`;
  const [waited] = await Promise.allSettled([waitUntil(isAnswered, { what, withinMs: SETTLED_MS })]);
  if (waited.status === "rejected") throw new Error(`the last answer was: ${latest}`, { cause: waited.reason });
}

export const serverRestart: LockCase = {
  name: ({ survives }) =>
    survives.serverRestart === "breaks"
      ? "tells a waiter of a lost server, and lets a second in after the restart: the flaw it is here to show"
      : "tells a waiter of a lost server, and lets nobody in after the restart whom the holder does not know of",
  notApplicable: withoutServer,
  async run(subject) {
    if (!subject.service) return;
    await using own = await startOwnService(subject.service);
    await using opened = await subject.open(own.servers);
    // Another client: the holder's may be the last to see its server again.
    await using other = await subject.open(own.servers);
    const request = subject.fresh({ ttlMs: TTL_MS });
    await using holder = await stayIn(opened.lock, request);
    /** Of each who got in beside the holder: did the holder know by then that its hold was over? */
    const intrusions: ("known" | "unknown")[] = [];
    let isHolderIn = true;
    const enter = async () => {
      if (isHolderIn) intrusions.push(holder.grant.signal.aborted ? "known" : "unknown");
    };
    const hasty = opened.lock.runGuarded({ ...request, waitTimeoutMs: HASTY_MS }, enter);
    const patient = opened.lock.runGuarded({ ...request, waitTimeoutMs: 20_000 }, enter);
    const waiting = Promise.allSettled([hasty, patient]);
    await own.kill();
    await assert.rejects(hasty, isUnreachable);
    await own.start();
    const isBroken = subject.traits.survives.serverRestart === "breaks";
    const tryAgain = () => other.lock.runGuarded({ ...request, waitTimeoutMs: 0 }, enter);
    await callUntil(isBroken ? ["completed"] : ["completed", "contended"], tryAgain);
    isHolderIn = false;
    await Promise.allSettled([holder.leave()]);
    if (isBroken) assert.ok(intrusions.length > 0, "nobody got in");
    else assert.ok(!intrusions.includes("unknown"), "somebody got in, and the holder did not know");
    const [, settled] = await waiting;
    assert.ok(settled.status === "fulfilled" || isUnreachable(settled.reason), "the waiter's error has no type");
  },
};
