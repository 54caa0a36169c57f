import type { Grant, LockOutcome, LockRequest, LockStrategy } from "../../lib/locks/types";
import { makeGate } from "./gate";

/** A holder that stays in its section until it is let out, at the latest by disposal. */
export interface HeldLock extends AsyncDisposable {
  readonly grant: Grant;
  readonly outcome: Promise<LockOutcome<void>>;
  leave(): Promise<LockOutcome<void>>;
}

/** @throws Error when the lock is not granted, or what the call throws before it is */
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
    outcome.then(({ status }) => failed(new Error(`not granted: ${status}`)), failed);
  });
}
