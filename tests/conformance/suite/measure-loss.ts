import { systemClock } from "../../../lib/locks/clock";
import { TEST_SESSION_TIMEOUT_MS } from "../../support/lock-clients";
import { relayService } from "../../support/relayed-servers";
import { stayIn } from "../../support/stay";
import { waitUntil } from "../../support/wait-until";
import { type HoldBreaker, holdBreakerOf } from "./break-hold";
import type { LockUnderTest } from "./strategy-under-test";

export interface LossMeasurement {
  readonly breaker: HoldBreaker;
  /** From when the server was told to break the hold until `grant.signal` aborted. */
  readonly toSignalMs: number;
  /** Length of the lease or the session; of the lease asked for where a connection is what ends. */
  readonly againstMs: number;
  /** Somebody else was let in; had the holder been told by then? Null where nobody looked. */
  readonly toldBeforeNext: boolean | null;
}

const SIGNAL_LIMIT_MS = 30_000;

/** Takes the hold away from a holder on its real server, once, and waits for the holder to be told. */
export async function measureLoss(subject: LockUnderTest, ttlMs: number): Promise<LossMeasurement> {
  const { service } = subject;
  if (!service) throw new Error(`${subject.name} has no server to lose a hold on`);
  const breaker = holdBreakerOf(service);
  const relayed = breaker.needsRelay ? await relayService(service) : null;
  try {
    await using opened = await subject.open(relayed?.servers ?? {}, TEST_SESSION_TIMEOUT_MS);
    const request = subject.fresh({ ttlMs });
    await using holder = await stayIn(opened.lock, request);
    const { signal } = holder.grant;
    let toldMs = Number.NaN;
    signal.addEventListener("abort", () => {
      toldMs = systemClock.nowMs();
    });
    const { clients } = subject;
    const brokenMs = await breaker.breakHold({ resource: request.resource, holders: opened.clients, clients, relayed });
    // Where only the server's own clock ends the hold, the next one in shows when it did.
    const toldBeforeNext = breaker.needsRelay ? await lookFromNext(subject, { ...request, signal }) : null;
    await waitUntil(() => signal.aborted, { what: "the holder to be told", withinMs: SIGNAL_LIMIT_MS });
    const againstMs = breaker.against === "session" ? TEST_SESSION_TIMEOUT_MS : ttlMs;
    return { breaker, toSignalMs: toldMs - brokenMs, againstMs, toldBeforeNext };
  } finally {
    await relayed?.[Symbol.asyncDispose]();
  }
}

async function lookFromNext(
  { lock }: LockUnderTest,
  { resource, signal }: { resource: string; signal: AbortSignal },
): Promise<boolean | null> {
  const request = { resource, ttlMs: 5_000, waitTimeoutMs: SIGNAL_LIMIT_MS };
  const next = await lock.runGuarded(request, async () => signal.aborted);
  return next.status === "completed" ? next.value : null;
}
