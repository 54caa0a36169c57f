import type { LockHandle, TryReply } from "./lease-backend";
import type { RunnerContext } from "./runner-context";
import type { LockRequest } from "./types";
import { withDeadline } from "./with-deadline";

/** A lock handle and the state that the runner keeps for it. */
export interface ManagedHandle {
  readonly handle: LockHandle;
  readonly holderId: string;
  readonly resource: string;
  /** Aborts when the hold is lost. Becomes `grant.signal`. */
  readonly lost: AbortSignal;
  declareLost(reason: unknown): void;
  /** Ends the hold: later losses are no longer reported. */
  end(): void;
}

export function createLockHandle(context: RunnerContext, request: LockRequest): ManagedHandle {
  const { backend, clock, random } = context;
  const loss = new AbortController();
  const holderId = random.hex(32);
  let hasEnded = false;
  const declareLost = (reason: unknown) => {
    if (!hasEnded) loss.abort(reason);
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
      hasEnded = true;
    },
  };
}

export type ReleaseResult = "released" | "not_held" | "unknown";

/** Waits for a release as long as its call may still last. The release then continues in the background. */
export async function releaseWithin(
  context: RunnerContext,
  release: Promise<ReleaseResult>,
  limitMs: number,
): Promise<ReleaseResult> {
  const settled = await withDeadline(context.clock, release, { limitMs });
  if (settled.status === "value") return settled.value;
  context.trackCleanUp(endOf(release));
  return "unknown";
}

/** Never rejects. */
export async function endOf(work: Promise<unknown>): Promise<void> {
  await Promise.allSettled([work]);
}

/** Releases within the limit. A failure is an incident, not an error: the lease expires or the session ends. */
export async function releaseHandle(context: RunnerContext, managed: ManagedHandle): Promise<ReleaseResult> {
  const { clock, options } = context;
  const work = managed.handle.release();
  const settled = await withDeadline(clock, work, { limitMs: options.releaseLimitMs });
  if (settled.status === "value") return settled.value;
  const cause =
    settled.status === "error" ? settled.error : new Error("the server did not answer within the release limit");
  context.report({ kind: "release_failed", resource: managed.resource, holderId: managed.holderId, cause });
  return "unknown";
}

/**
 * Ends a call whose section left an operation in flight: the hold is no longer renewed and stays for `ttlMs`, so that the
 * operation ends or takes effect before the next grant. The release then follows in the background.
 */
export function keepHandle(context: RunnerContext, managed: ManagedHandle, ttlMs: number): void {
  // An unwatched key expires, and its release does not compare owners: it could delete the key of the next holder.
  if (context.backend.leaseKind === "unwatched") return;
  context.trackKeptHold(releaseAfterLease(context, managed, ttlMs));
}

async function releaseAfterLease(context: RunnerContext, managed: ManagedHandle, ttlMs: number): Promise<void> {
  await context.clock.sleep(ttlMs);
  await releaseHandle(context, managed);
}

/**
 * Discards a handle: releases what it may hold. If its pending try is granted later, releases that grant too. Waits for
 * the release as long as the call may still last.
 */
export async function retireHandle(
  context: RunnerContext,
  managed: ManagedHandle,
  { limitMs, unanswered }: { readonly limitMs: number; readonly unanswered: Promise<TryReply> | null },
): Promise<void> {
  managed.end();
  if (unanswered) context.trackCleanUp(releaseIfGrantedLate(context, managed, unanswered));
  await releaseWithin(context, releaseHandle(context, managed), limitMs);
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
