import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { LockStrategy } from "../../lib/locks/types";
import { type LockClients, lockServers } from "../support/lock-clients";
import { waitUntil } from "../support/wait-until";
import { findPrograms, OtherClient, type OtherClientName, type WitnessedHold } from "./other-client";

/** Grants that every side must get while all of them still contend. */
export const WANTED_GRANTS = 500;
const CALLERS_EACH = 2;
const HOLD_MS = 1;
/** Without pauses a fair queue settles into one order, which may hide that two of the clients do not see each other. */
const LONGEST_PAUSE_MS = 8;
const TTL_MS = 10_000;
const START_LIMIT_MS = 30_000;
/** Each grant is a few writes that the servers bring to disk: on a slow disk they take their time. */
const CONTEST_LIMIT_MS = 120_000;

export interface Contest {
  readonly ours: LockStrategy;
  readonly clients: LockClients;
  readonly others: readonly OtherClientName[];
  /** The name of our resource in the other clients' words: a key, a path. */
  readonly lockName: (resource: string) => string;
  readonly wantedGrants?: number;
}

export interface ContestResult {
  /** In the order of their beginning. */
  readonly holds: readonly WitnessedHold[];
  /** Of our holds, in the order of their beginning. */
  readonly tokens: readonly (bigint | null)[];
}

/**
 * Ours and the others want one lock, over and over, until each side has had it often enough; everyone keeps at it to
 * the end, so each grant was contended for. Two witnesses that know nothing of locks: a counter in Redis, incremented on
 * entering and decremented on leaving, and the host's monotonic clock.
 */
export async function contend(contest: Contest): Promise<ContestResult> {
  const programs = await findPrograms();
  const { redis: redisUrl, zookeeper: zookeeperHosts } = lockServers();
  const resource = `interop:${randomUUID()}`;
  const witnessKey = `witness:${resource}`;
  const lockName = contest.lockName(resource);
  const timing = { callers: CALLERS_EACH, holdMs: HOLD_MS, longestPauseMs: LONGEST_PAUSE_MS, ttlMs: TTL_MS };
  const order = { lockName, witnessKey, redisUrl, zookeeperHosts, ...timing };
  const others = contest.others.map((name) => new OtherClient(name, order, programs));
  try {
    const ready = () => others.every(({ isReady, failures }) => isReady || failures.length > 0);
    await waitUntil(ready, { what: "the other clients to connect", withinMs: START_LIMIT_MS });
    return await hold(contest, others, { resource, witnessKey });
  } finally {
    await Promise.all(others.map((other) => other[Symbol.asyncDispose]()));
    await contest.clients.redis().del(witnessKey);
  }
}

interface StrategyUnderTest {
  readonly resource: string;
  readonly witnessKey: string;
}

async function hold(
  contest: Contest,
  others: readonly OtherClient[],
  subject: StrategyUnderTest,
): Promise<ContestResult> {
  const wanted = contest.wantedGrants ?? WANTED_GRANTS;
  const ours: (WitnessedHold & { readonly token: bigint | null })[] = [];
  const startNs = process.hrtime.bigint();
  const deadlineMs = performance.now() + CONTEST_LIMIT_MS;
  const failures = () => others.flatMap((other) => other.failures);
  const isEnough = () => [ours, ...others.map(({ holds }) => holds)].every(({ length }) => length >= wanted);
  const isOver = () => isEnough() || failures().length > 0 || performance.now() > deadlineMs;

  async function call(): Promise<void> {
    while (!isOver()) {
      ours.push(await holdOurs(contest, subject));
      await contest.clients.clock.sleep(Math.random() * LONGEST_PAUSE_MS);
    }
  }
  for (const other of others) other.go();
  const calls = await Promise.allSettled(Array.from({ length: CALLERS_EACH }, call));
  for (const other of others) other.stop();
  await waitUntil(() => others.every(({ isDone }) => isDone) || failures().length > 0, {
    what: "the others to stop",
    withinMs: 20_000,
  });
  assert.deepEqual(failures(), []);
  for (const settled of calls) if (settled.status === "rejected") throw settled.reason;
  const all = [...ours, ...others.flatMap(({ holds }) => holds)];
  const holds = all.toSorted((left, right) => (left.fromNs < right.fromNs ? -1 : 1));
  assertFairGame(holds, { startNs, sides: ["ours", ...contest.others], wanted });
  const tokens = ours.toSorted((left, right) => (left.fromNs < right.fromNs ? -1 : 1)).map(({ token }) => token);
  return { holds, tokens };
}

async function holdOurs({ ours, clients }: Contest, { resource, witnessKey }: StrategyUnderTest) {
  const outcome = await ours.runGuarded({ resource, waitTimeoutMs: 30_000, ttlMs: TTL_MS }, async (grant) => {
    const fromNs = process.hrtime.bigint();
    const entered = await clients.redis().incr(witnessKey);
    await clients.clock.sleep(HOLD_MS);
    const left = await clients.redis().decr(witnessKey);
    return { side: "ours", fromNs, toNs: process.hrtime.bigint(), entered, left, token: grant.fencingToken };
  });
  assert.ok(outcome.status === "completed", "ours waited in vain");
  assert.equal(outcome.lease, "held");
  return outcome.value;
}

interface Expectation {
  readonly startNs: bigint;
  readonly sides: readonly string[];
  readonly wanted: number;
}

/** Nobody was inside with anybody else, by either witness; everybody had a share; and it went back and forth. */
function assertFairGame(holds: readonly WitnessedHold[], { startNs, sides, wanted }: Expectation): void {
  const counts = sides.map((side) => holds.filter((one) => one.side === side).length);
  const turns = holds.filter((one, index) => index > 0 && one.side !== holds[index - 1]?.side).length;
  const overlaps = holds.filter((one, index) => index > 0 && one.fromNs < (holds[index - 1]?.toNs ?? 0n));
  console.log(`grants: ${sides.map((side, index) => `${side} ${counts[index]}`).join(", ")}; ${turns} changes of side`);
  // Clocks that had nothing to do with each other would find no overlap either.
  assert.ok(holds.every(({ fromNs, toNs }) => startNs < fromNs && fromNs < toNs && toNs < process.hrtime.bigint()));
  const [overlap] = overlaps;
  assert.equal(overlaps.length, 0, `${overlaps.length} overlaps, the first by ${overlap?.side} at ${overlap?.fromNs}`);
  const crowded = holds.filter(({ entered, left }) => entered !== 1 || left !== 0);
  assert.equal(crowded.length, 0, `the counter says that ${crowded.length} holders were not alone`);
  assert.ok(
    counts.every((count) => count >= wanted),
    `grants: ${counts.join(", ")}, and ${wanted} wanted each`,
  );
  assert.ok(turns >= wanted / 10, `${turns} changes of side in ${holds.length} holds: one side was left alone`);
}
