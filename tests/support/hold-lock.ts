import { isLockError } from "../../lib/locks/errors";
import type { Grant, LockOutcome, LockRequest, LockStrategy } from "../../lib/locks/types";
import { makeGate } from "./gate";
import { waitUntil } from "./wait-until";

/** A holder that keeps the lock until `leave` or disposal. */
export interface HeldLock extends AsyncDisposable {
  readonly grant: Grant;
  readonly outcome: Promise<LockOutcome<void>>;
  leave(): Promise<LockOutcome<void>>;
}

/**
 * Acquires the lock and holds it. Asks again if a busy server does not answer within the limit of a call.
 * @throws Error if the lock is not granted, or the error of the call
 */
export async function holdLock(lock: LockStrategy, request: LockRequest): Promise<HeldLock> {
  let held: HeldLock | null = null;
  const isAnswered = async () => {
    const [entered] = await Promise.allSettled([enter(lock, request)]);
    if (entered.status === "fulfilled") held = entered.value;
    else if (!isUnreachable(entered.reason)) throw entered.reason;
    return held !== null;
  };
  await waitUntil(isAnswered, { what: `the server of ${lock.id} to answer an acquisition` });
  return held ?? Promise.reject(new Error("unreachable"));
}

/** Whether the servers did not answer a call in time, which says nothing about the lock. */
export function isUnreachable(error: unknown): boolean {
  return isLockError(error) && (error.code === "backend_unavailable" || error.code === "quorum_failed");
}

function enter(lock: LockStrategy, request: LockRequest): Promise<HeldLock> {
  const gate = makeGate();
  return new Promise((entered, failed) => {
    const outcome = lock.runGuarded(request, async (grant) => {
      const leave = () => {
        gate.open();
        return outcome;
      };
      const dispose = async () => void (await Promise.allSettled([leave()]));
      entered({ grant, outcome, leave, [Symbol.asyncDispose]: dispose });
      await gate.pass();
    });
    outcome.then(({ status }) => failed(new Error(`expected the lock to be granted, found ${status}`)), failed);
  });
}
