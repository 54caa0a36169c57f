import type { LossMeasurement } from "../../../bin/loss/loss-measurement";
import { systemClock } from "../../../lib/locks/clock";
import { holdLock } from "../../support/hold-lock";
import { TEST_SESSION_TIMEOUT_MS } from "../../support/lock-clients";
import { relayService } from "../../support/relayed-servers";
import { waitUntil } from "../../support/wait-until";
import { holdBreakerOf } from "./break-hold";
import type { LockUnderTest } from "./strategy-under-test";

const SIGNAL_LIMIT_MS = 30_000;

/** Ends a hold on its real server once, and waits for the signal to its holder. */
export async function measureLoss(tested: LockUnderTest, ttlMs: number): Promise<LossMeasurement> {
  const { service } = tested;
  if (!service) throw new Error(`${tested.name} has no server to lose a hold on`);
  const breaker = holdBreakerOf(service);
  const relayed = breaker.needsRelay ? await relayService(service) : null;
  try {
    await using opened = await tested.open(relayed?.servers ?? {}, TEST_SESSION_TIMEOUT_MS);
    const request = tested.fresh({ ttlMs });
    await using holder = await holdLock(opened.lock, request);
    const { signal } = holder.grant;
    let signalledMs = Number.NaN;
    signal.addEventListener("abort", () => {
      signalledMs = systemClock.nowMs();
    });
    const { clients } = tested;
    const brokenMs = await breaker.breakHold({ resource: request.resource, holders: opened.clients, clients, relayed });
    // If only the server's clock ends the hold, the next holder shows when it ended.
    const wasSignalledFirst = breaker.needsRelay ? await watchNextHolder(tested, { ...request, signal }) : null;
    await waitUntil(() => signal.aborted, { what: "grant.signal to abort", withinMs: SIGNAL_LIMIT_MS });
    const againstMs = breaker.against === "session" ? TEST_SESSION_TIMEOUT_MS : ttlMs;
    const { how, against, share } = breaker;
    return { how, against, againstMs, share, toSignalMs: signalledMs - brokenMs, wasSignalledFirst };
  } finally {
    await relayed?.[Symbol.asyncDispose]();
  }
}

async function watchNextHolder(
  { lock }: LockUnderTest,
  { resource, signal }: { resource: string; signal: AbortSignal },
): Promise<boolean | null> {
  const request = { resource, ttlMs: 5_000, waitTimeoutMs: SIGNAL_LIMIT_MS };
  const next = await lock.runGuarded(request, async () => signal.aborted);
  return next.status === "completed" ? next.value : null;
}
