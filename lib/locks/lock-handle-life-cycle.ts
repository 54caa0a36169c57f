import type { LockHandle, TryReply } from "./lease-backend";
import type { RunnerContext } from "./runner-context";
import type { LockRequest } from "./types";
import { withDeadline } from "./with-deadline";

/** One managed with what the runner knows about it. */
export interface ManagedHandle {
  readonly handle: LockHandle;
  readonly holderId: string;
  readonly resource: string;
  /** Aborts when the hold is known lost; becomes `grant.signal`. */
  readonly lost: AbortSignal;
  declareLost(reason: unknown): void;
  /** From here on the hold is nobody's business: a loss is no longer reported. */
  end(): void;
}

export function createLockHandle(context: RunnerContext, request: LockRequest): ManagedHandle {
  const { backend, clock, random } = context;
  const loss = new AbortController();
  const holderId = random.hex(32);
  let over = false;
  const declareLost = (reason: unknown) => {
    if (!over) loss.abort(reason);
  };
  const { resource, ttlMs } = request;
  const handle = backend.createHandle({ resource, holderId, ttlMs, clock, random, declareLost });
  return {
    handle,
    holderId,
    resource,
    lost: loss.signal,
    declareLost,
    end: () => {
      over = true;
    },
  };
}

/** Releases within the limit. A failure is an incident, not an error: the lease or the session will end by itself. */
export async function releaseHandle(
  context: RunnerContext,
  managed: ManagedHandle,
): Promise<"released" | "not_held" | "unknown"> {
  const { clock, options } = context;
  const work = managed.handle.release();
  const settled = await withDeadline(clock, work, { limitMs: options.releaseLimitMs });
  if (settled.status === "value") return settled.value;
  const cause = settled.status === "error" ? settled.error : new Error("no answer within the release limit");
  context.report({ kind: "release_failed", resource: managed.resource, holderId: managed.holderId, cause });
  return "unknown";
}

/**
 * Takes a managed out of the context for good: releases what it may hold, and once more if its unanswered
 * try turns out to have been granted after all.
 */
export async function retireHandle(
  context: RunnerContext,
  managed: ManagedHandle,
  unanswered?: Promise<TryReply>,
): Promise<void> {
  managed.end();
  if (unanswered) context.trackCleanUp(releaseIfGrantedLate(context, managed, unanswered));
  await releaseHandle(context, managed);
}

async function releaseIfGrantedLate(
  context: RunnerContext,
  managed: ManagedHandle,
  unanswered: Promise<TryReply>,
): Promise<void> {
  const [settled] = await Promise.allSettled([unanswered]);
  if (settled.status === "rejected" || settled.value.status !== "granted") return;
  context.report({ kind: "late_grant_released", resource: managed.resource, holderId: managed.holderId });
  await releaseHandle(context, managed);
}
