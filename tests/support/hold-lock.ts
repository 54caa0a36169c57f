import type { Grant, LockOutcome, LockRequest, LockStrategy } from "../../lib/locks/types";
import { makeGate } from "./gate";

/** A holder that keeps the lock until `leave` or disposal. */
export interface HeldLock extends AsyncDisposable {
  readonly grant: Grant;
  readonly outcome: Promise<LockOutcome<void>>;
  leave(): Promise<LockOutcome<void>>;
}

/** Acquires the lock and holds it. @throws Error if the lock is not granted, or the error of the call */
export function holdLock(lock: LockStrategy, request: LockRequest): Promise<HeldLock> {
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
