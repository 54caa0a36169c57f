import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { LockStrategy } from "../../lib/locks/types";
import { type LockClients, lockServers } from "../support/lock-clients";
import { waitUntil } from "../support/wait-until";
import { type Launch, launchInstalled, OtherClient, type OtherClientName, type WitnessedHold } from "./other-client";

/** Grants that each side must get while all sides contend. */
export const WANTED_GRANTS = 500;
const CALLERS_EACH = 2;
const HOLD_MS = 1;
/**
 * Random pauses, because without them a fair queue settles into one order, which could hide that two clients do not see
 * each other.
 */
const MAX_PAUSE_MS = 8;
const TTL_MS = 10_000;
const START_LIMIT_MS = 30_000;
/** Each grant needs a few writes that the servers sync to disk, which takes long on a slow disk. */
const RUN_LIMIT_MS = 120_000;

export interface ContentionRun {
  readonly ours: LockStrategy;
  readonly clients: LockClients;
  readonly others: readonly OtherClientName[];
  /** Our resource as a lock name of the other clients: a key or a path. */
  readonly lockName: (resource: string) => string;
  readonly wantedGrants?: number;
  /** Default: the installed clients in Python and Java. */
  readonly launch?: Launch;
}

export interface ContentionResult {
  /** Ordered by start. */
  readonly holds: readonly WitnessedHold[];
  /** The tokens of our holds, ordered by start. */
  readonly tokens: readonly (bigint | null)[];
}

/**
 * Our lock and the other clients contend for one lock until each side has enough grants. All sides keep contending
 * until the end, so every grant was contended. Two independent witnesses detect overlaps: a counter in Redis,
 * incremented on entry and decremented on exit, and the host's monotonic clock.
 */
export async function contend(run: ContentionRun): Promise<ContentionResult> {
  const { redis: redisUrl, zookeeper: zookeeperHosts, etcd: etcdUrl } = lockServers();
  const resource = `interop:${randomUUID()}`;
  const witnessKey = `witness:${resource}`;
  const lockName = run.lockName(resource);
  const timing = { callers: CALLERS_EACH, holdMs: HOLD_MS, longestPauseMs: MAX_PAUSE_MS, ttlMs: TTL_MS };
  const order = { lockName, witnessKey, redisUrl, zookeeperHosts, etcdUrl, ...timing };
  const { launch = launchInstalled } = run;
  const commands = await Promise.all(run.others.map(async (name) => [name, await launch(name, order)] as const));
  const others = commands.map(([name, command]) => new OtherClient(name, command));
  try {
    const ready = () => others.every(({ isReady, failures }) => isReady || failures.length > 0);
    await waitUntil(ready, { what: "the other clients to connect", withinMs: START_LIMIT_MS });
    return await hold(run, others, { resource, witnessKey });
  } finally {
    await Promise.all(others.map((other) => other[Symbol.asyncDispose]()));
    await run.clients.redis().del(witnessKey);
  }
}

interface ResourceUnderTest {
  readonly resource: string;
  readonly witnessKey: string;
}

async function hold(
  run: ContentionRun,
  others: readonly OtherClient[],
  resourceUnderTest: ResourceUnderTest,
): Promise<ContentionResult> {
  const wanted = run.wantedGrants ?? WANTED_GRANTS;
  const ours: (WitnessedHold & { readonly token: bigint | null })[] = [];
  const startNs = process.hrtime.bigint();
  const deadlineMs = performance.now() + RUN_LIMIT_MS;
  const failures = () => others.flatMap((other) => other.failures);
  const hasEnough = () => [ours, ...others.map(({ holds }) => holds)].every(({ length }) => length >= wanted);
  const isOver = () => hasEnough() || failures().length > 0 || performance.now() > deadlineMs;

  async function call(): Promise<void> {
    while (!isOver()) {
      ours.push(await holdOurs(run, resourceUnderTest));
      await run.clients.clock.sleep(Math.random() * MAX_PAUSE_MS);
    }
  }
  for (const other of others) other.go();
  const calls = await Promise.allSettled(Array.from({ length: CALLERS_EACH }, call));
  for (const other of others) other.stop();
  await waitUntil(() => others.every(({ isDone }) => isDone) || failures().length > 0, {
    what: "the other clients to stop",
    withinMs: 20_000,
  });
  assert.deepEqual(failures(), []);
  for (const settled of calls) if (settled.status === "rejected") throw settled.reason;
  const all = [...ours, ...others.flatMap(({ holds }) => holds)];
  const holds = all.toSorted((left, right) => (left.fromNs < right.fromNs ? -1 : 1));
  assertFairRun(holds, { startNs, sides: ["ours", ...run.others], wanted });
  const tokens = ours.toSorted((left, right) => (left.fromNs < right.fromNs ? -1 : 1)).map(({ token }) => token);
  return { holds, tokens };
}

async function holdOurs({ ours, clients }: ContentionRun, { resource, witnessKey }: ResourceUnderTest) {
  const outcome = await ours.runGuarded({ resource, waitTimeoutMs: 30_000, ttlMs: TTL_MS }, async (grant) => {
    const fromNs = process.hrtime.bigint();
    const entered = await clients.redis().incr(witnessKey);
    await clients.clock.sleep(HOLD_MS);
    const left = await clients.redis().decr(witnessKey);
    return { side: "ours", fromNs, toNs: process.hrtime.bigint(), entered, left, token: grant.fencingToken };
  });
  assert.ok(outcome.status === "completed", "our lock did not get a grant within 30 s");
  assert.equal(outcome.lease, "held");
  return outcome.value;
}

interface Expectation {
  readonly startNs: bigint;
  readonly sides: readonly string[];
  readonly wanted: number;
}

/** Checks that neither witness found an overlap, that each side had its share, and that the sides alternated. */
function assertFairRun(holds: readonly WitnessedHold[], { startNs, sides, wanted }: Expectation): void {
  const counts = sides.map((side) => holds.filter((hold) => hold.side === side).length);
  const turns = holds.filter((hold, index) => index > 0 && hold.side !== holds[index - 1]?.side).length;
  const overlaps = holds.filter((hold, index) => index > 0 && hold.fromNs < (holds[index - 1]?.toNs ?? 0n));
  console.log(`grants: ${sides.map((side, index) => `${side} ${counts[index]}`).join(", ")}; ${turns} changes of side`);
  // The clocks must be comparable: unrelated clocks would not show an overlap either.
  assert.ok(holds.every(({ fromNs, toNs }) => startNs < fromNs && fromNs < toNs && toNs < process.hrtime.bigint()));
  const [overlap] = overlaps;
  assert.equal(
    overlaps.length,
    0,
    `${overlaps.length} overlapping holds; the first is by ${overlap?.side} at ${overlap?.fromNs}`,
  );
  const crowded = holds.filter(({ entered, left }) => entered !== 1 || left !== 0);
  assert.equal(crowded.length, 0, `expected 1 holder at a time; the counter shows ${crowded.length} holds with more`);
  assert.ok(
    counts.every((count) => count >= wanted),
    `expected at least ${wanted} grants per side, found ${counts.join(", ")}`,
  );
  assert.ok(
    turns >= wanted / 10,
    `expected the sides to alternate, found ${turns} changes of side in ${holds.length} holds`,
  );
}
