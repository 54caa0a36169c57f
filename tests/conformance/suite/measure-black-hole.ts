import assert from "node:assert/strict";
import { systemClock } from "../../../lib/locks/clock";
import { isLockError } from "../../../lib/locks/errors";
import type { LockOutcome } from "../../../lib/locks/types";
import { type HeldLock, holdLock } from "../../support/hold-lock";
import { relayService } from "../../support/relayed-servers";
import type { TcpRelay } from "../../support/tcp-relay";
import { waitUntil } from "../../support/wait-until";
import { watchStalls } from "../../support/watch-stalls";
import { type LockUnderTest, type OpenedLock, untilGranted } from "./strategy-under-test";

/** When the server becomes silent: before a call, in its wait, in its section, or while a renewal is in flight. */
export type CallKind = keyof typeof CALLS;

export interface Overrun {
  readonly call: CallKind;
  readonly swallowed: string;
  /** Time of the call beyond its wait and its section. */
  readonly overrunMs: number;
  /** Time in which this process could not run meanwhile. */
  readonly stalledMs: number;
  /** From the end of the outage to the end of the next complete call. */
  readonly recoveredMs: number;
  /** Time in which this process could not run during the recovery. */
  readonly recoveryStalledMs: number;
}

interface Probe {
  readonly tested: LockUnderTest;
  readonly opened: OpenedLock;
  readonly relays: readonly TcpRelay[];
  readonly swallow: (relay: TcpRelay) => void;
}

/** Which packets disappear: Toxiproxy's toxic `timeout` on both streams, or on one. */
export const STREAMS: Readonly<Record<string, (relay: TcpRelay) => void>> = {
  "all packets": (relay) => relay.freeze(),
  requests: (relay) => relay.swallowRequests(),
  replies: (relay) => relay.swallowReplies(),
};
const WAIT_MS = 300;
/** The first renewal is sent after a third of it. */
const RENEWED_TTL_MS = 1_500;

/** Calls a lock whose server accepts connections and swallows packets, and calls it again when the server is back. */
export async function measureBlackHole(
  tested: LockUnderTest,
  { isRenewed }: { readonly isRenewed: boolean },
): Promise<readonly Overrun[]> {
  const lanes: readonly (readonly CallKind[])[] = [
    ["a first call", "a try", "a wait"],
    ["a wait in progress", "a nested call"],
    isRenewed ? ["a release", "a release during a renewal", "a release of a lost lease"] : ["a release"],
  ];
  const overruns = Object.keys(STREAMS).flatMap((swallowed) =>
    lanes.map((calls) => measureInTurn(tested, { swallowed, calls })),
  );
  return (await Promise.all(overruns)).flat();
}

async function measureInTurn(
  tested: LockUnderTest,
  { swallowed, calls }: { swallowed: string; calls: readonly CallKind[] },
): Promise<readonly Overrun[]> {
  if (!tested.service) throw new Error(`${tested.name} has no server`);
  await using servers = await relayService(tested.service);
  await using opened = tested.openLazily(servers.servers);
  const probe = { tested, opened, relays: servers.relays, swallow: STREAMS[swallowed] ?? assert.fail(swallowed) };
  const overruns: Overrun[] = [];
  for (const call of calls) {
    using stalls = watchStalls();
    const overrunMs = await CALLS[call](probe);
    const stalledMs = stalls.totalMs();
    using recoveryStalls = watchStalls();
    const recoveredMs = await recover(probe);
    overruns.push({ call, swallowed, overrunMs, stalledMs, recoveredMs, recoveryStalledMs: recoveryStalls.totalMs() });
  }
  return overruns;
}

const CALLS = {
  "a first call": (probe) => callInBlackHole(probe, 0),
  "a try": (probe) => callInBlackHole(probe, 0),
  "a wait": (probe) => callInBlackHole(probe, WAIT_MS),
  "a wait in progress": waitInBlackHole,
  "a nested call": nestInBlackHole,
  "a release": ({ tested, opened, relays, swallow }) =>
    releaseAfter({ tested, opened, ttlMs: 5_000 }, async () => relays.forEach(swallow)),
  "a release during a renewal": ({ tested, opened, relays, swallow }) =>
    releaseAfter({ tested, opened, ttlMs: RENEWED_TTL_MS }, async () => {
      relays.forEach(swallow);
      const isRenewing = () => relays.some((relay) => relay.swallowedChunks > 0);
      await waitUntil(isRenewing, { what: "a renewal to disappear", withinMs: 10_000 });
    }),
  "a release of a lost lease": ({ tested, opened, relays, swallow }) =>
    releaseAfter({ tested, opened, ttlMs: RENEWED_TTL_MS }, async ({ grant }) => {
      relays.forEach(swallow);
      await waitUntil(() => grant.signal.aborted, { what: "the loss of the lease", withinMs: 10_000 });
    }),
} satisfies Readonly<Record<string, (probe: Probe) => Promise<number>>>;

/** @returns the time beyond the wait. A call that got an answer before the packets disappeared is not measured. */
async function callInBlackHole({ tested, opened, relays, swallow }: Probe, waitTimeoutMs: number): Promise<number> {
  relays.forEach(swallow);
  const startedMs = systemClock.nowMs();
  await assertNotGranted(opened.lock.runGuarded(tested.fresh({ waitTimeoutMs }), async () => {}));
  return systemClock.nowMs() - startedMs - waitTimeoutMs;
}

/** Waits for a lock that another call holds. The packets disappear after the first reply. @returns the time beyond the wait */
async function waitInBlackHole({ tested, opened, relays, swallow }: Probe): Promise<number> {
  const request = tested.fresh();
  await using _holder = await holdLock(opened.lock, request);
  const repliesOf = () => relays.reduce((sum, { forwardedReplies }) => sum + forwardedReplies, 0);
  const before = repliesOf();
  const startedMs = systemClock.nowMs();
  const call = opened.lock.runGuarded({ ...request, waitTimeoutMs: WAIT_MS }, async () => {});
  const ended = assertNotGranted(call).then(() => systemClock.nowMs() - startedMs - WAIT_MS);
  let hasEnded = false;
  const noteEnd = () => {
    hasEnded = true;
  };
  ended.then(noteEnd, noteEnd);
  await waitUntil(() => hasEnded || repliesOf() > before, { what: "the first reply to the waiter" });
  relays.forEach(swallow);
  return ended;
}

/** Runs a nested section after the packets disappeared. @returns the time of the nested call beyond its section, which is empty */
async function nestInBlackHole({ tested, opened, relays, swallow }: Probe): Promise<number> {
  await using holder = await holdLock(opened.lock, tested.fresh());
  relays.forEach(swallow);
  const startedMs = systemClock.nowMs();
  const [nested] = await Promise.allSettled([holder.grant.runNested(async () => {})]);
  assert.ok(nested.status === "fulfilled" || isLockError(nested.reason), `expected a typed LockError, found ${nested}`);
  return systemClock.nowMs() - startedMs;
}

async function assertNotGranted(call: Promise<LockOutcome<void>>): Promise<void> {
  const [settled] = await Promise.allSettled([call]);
  // If no connection can be opened, the caller waits for one until its wait ends.
  const isAnswered =
    settled.status === "fulfilled" ? settled.value.status === "contended" : isLockError(settled.reason);
  assert.ok(isAnswered, `expected contention or a typed LockError, found ${JSON.stringify(settled)}`);
}

/** Holds the lock, and ends the section after `inSection`. @returns the time from then to the end of the call */
async function releaseAfter(
  { tested, opened, ttlMs }: { tested: LockUnderTest; opened: OpenedLock; ttlMs: number },
  inSection: (holder: HeldLock) => Promise<void>,
): Promise<number> {
  const holder = await holdLock(opened.lock, tested.fresh({ ttlMs }));
  const [entered] = await Promise.allSettled([inSection(holder)]);
  const endedMs = systemClock.nowMs();
  const [left] = await Promise.allSettled([holder.leave()]);
  const overrunMs = systemClock.nowMs() - endedMs;
  if (entered.status === "rejected") throw entered.reason;
  // A hold in a transaction fails with its commit. Any other release continues in the background.
  assert.ok(left.status === "fulfilled" || isLockError(left.reason), `expected a typed LockError, found ${left}`);
  return overrunMs;
}

/** The server answers again. @returns the time until a call completes */
async function recover({ tested, opened, relays }: Probe): Promise<number> {
  for (const relay of relays) relay.heal();
  const healedMs = systemClock.nowMs();
  await untilGranted(opened.lock, tested.fresh());
  return systemClock.nowMs() - healedMs;
}
