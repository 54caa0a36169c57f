import assert from "node:assert/strict";
import { systemClock } from "../../../lib/locks/clock";
import { type HeldLock, holdLock } from "../../support/hold-lock";
import { relayService } from "../../support/relayed-servers";
import { watchStalls } from "../../support/watch-stalls";
import { STREAMS } from "./measure-black-hole";
import { type LockUnderTest, type OpenedLock, untilGranted } from "./strategy-under-test";

export interface Close {
  /** What the lock is doing when its server becomes silent. */
  readonly during: string;
  readonly swallowed: string;
  /** From the call of close, or from the end of the section if that is later, until lock and clients are closed. */
  readonly tookMs: number;
  /** Time in which this process could not run meanwhile. */
  readonly stalledMs: number;
}

interface Probe {
  readonly tested: LockUnderTest;
  readonly opened: OpenedLock;
  readonly swallow: () => void;
}

const SITUATIONS: Readonly<Record<string, (probe: Probe) => Promise<number>>> = {
  "no call": async (probe) => {
    probe.swallow();
    return timeOf(close(probe));
  },
  "a wait": closeDuringWait,
  "a hold": closeDuringHold,
  "a release in the background": closeAfterRelease,
};
/** Longer than any close. */
const LONG_WAIT_MS = 60_000;

/** Closes a connected lock and its clients while its server accepts connections and swallows packets. */
export async function measureCloses(tested: LockUnderTest): Promise<readonly Close[]> {
  const streams = Object.keys(STREAMS);
  return Promise.all(
    Object.keys(SITUATIONS).flatMap((during) => streams.map((swallowed) => measure(tested, { during, swallowed }))),
  );
}

async function measure(tested: LockUnderTest, { during, swallowed }: Pick<Close, "during" | "swallowed">) {
  if (!tested.service) throw new Error(`${tested.name} has no server`);
  const [situation, stream] = [SITUATIONS[during], STREAMS[swallowed]];
  if (!situation || !stream) throw new Error(`unknown: ${during}, ${swallowed}`);
  await using servers = await relayService(tested.service);
  const opened = tested.openLazily(servers.servers);
  await untilGranted(opened.lock, tested.fresh());
  using stalls = watchStalls();
  const tookMs = await situation({ tested, opened, swallow: () => servers.relays.forEach(stream) });
  return { during, swallowed, tookMs, stalledMs: stalls.totalMs() };
}

const close = ({ opened }: Probe): PromiseLike<void> => opened[Symbol.asyncDispose]();

async function timeOf(work: PromiseLike<unknown>): Promise<number> {
  const startedMs = systemClock.nowMs();
  await work;
  return systemClock.nowMs() - startedMs;
}

/** Another process holds the lock. */
async function closeDuringWait(probe: Probe): Promise<number> {
  const { tested, opened, swallow } = probe;
  const request = tested.fresh({ waitTimeoutMs: LONG_WAIT_MS });
  await using _holder = await holdLock(tested.lock, request);
  const call = Promise.allSettled([opened.lock.runGuarded(request, async () => {})]);
  swallow();
  const tookMs = await timeOf(close(probe));
  const [waiter] = await call;
  assert.equal(waiter.status, "rejected", "expected the waiter to be rejected");
  return tookMs;
}

async function closeDuringHold(probe: Probe): Promise<number> {
  const holder = await holdLock(probe.opened.lock, probe.tested.fresh());
  probe.swallow();
  const closed = close(probe);
  return timeOf(Promise.all([leave(holder), closed]));
}

/** The call has ended without an answer to its release, which continues. */
async function closeAfterRelease(probe: Probe): Promise<number> {
  const holder = await holdLock(probe.opened.lock, probe.tested.fresh());
  probe.swallow();
  await leave(holder);
  return timeOf(close(probe));
}

async function leave(holder: HeldLock): Promise<void> {
  // A hold in a transaction fails with its commit.
  await Promise.allSettled([holder.leave()]);
}
