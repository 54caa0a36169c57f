import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { systemClock } from "../../../lib/locks/clock";
import { type EtcdRequests, etcdOver, openEtcd } from "../../../lib/locks/etcd/etcd-client";
import { type EtcdCommands, EtcdError, type QueuePosition } from "../../../lib/locks/etcd/etcd-port";
import { withDeadline } from "../../../lib/locks/with-deadline";
import type { WatchRequest } from "../../../simulator/servers/etcd-requests";
import { SimEtcd } from "../../../simulator/servers/sim-etcd";
import { World } from "../../../simulator/world/world";
import { type OwnEtcd, startOwnEtcd } from "../../support/own-etcd";

const SEQUENCES = 30;
/** Long, so nothing expires: other tests cover expiry. */
const LEASE_SECONDS = 600;
/** A watch sends its event within this time, even on a busy machine. */
const WATCH_LIMIT_MS = 20_000;

/** Three contenders in one queue, each with a separate lease and key. */
const CONTENDERS = [0, 1, 2] as const;
const contender = fc.constantFrom(...CONTENDERS);
/** Steps that delete and create watched keys. */
const OFTEN = ["enqueue", "remove", "watch"] as const;
const step = fc.record({
  does: fc.constantFrom(...OFTEN, ...OFTEN, ...OFTEN, "watch", "find", "grant", "keep", "revoke"),
  contender,
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** If the real server times out on a busy machine, the sequence is not compared. */
const NO_ANSWER = "rejected: unreachable";

type Commands = Omit<EtcdCommands, typeof Symbol.asyncDispose>;

interface Watch {
  readonly deleted: Promise<boolean>;
  /** Null while it is pending. */
  isDeleted: boolean | null;
}

/** One server: the real one or the model. */
interface Side {
  readonly etcd: Commands;
  readonly folder: string;
  readonly leases: readonly bigint[];
  /** The latest position that each contender read. */
  readonly positions: (QueuePosition | undefined)[];
  /** Revisions of all keys, because the servers number them differently. */
  readonly revisions: Set<bigint>;
  readonly watches: Watch[];
  readonly callOff: AbortController;
}

/** A separate server: etcd numbers the writes of all its clients, and other tests run at the same time. */
let server: OwnEtcd;
before(async () => {
  server = await startOwnEtcd();
});
after(() => server[Symbol.asyncDispose]());

describe("the simulator's etcd", () => {
  it("answers every request of the lock and notifies watchers like the real one", async () => {
    await using real = openEtcd(server.url);
    const sequence = fc.array(step, { minLength: 4, maxLength: 24, size: "max" });
    await fc.assert(
      fc.asyncProperty(sequence, (steps) => compare(real, steps)),
      { numRuns: SEQUENCES, endOnFailure: true, includeErrorInReport: true },
    );
  });

  it("grants no shorter lease than the real one", async () => {
    await using real = openEtcd(server.url);
    const sides = [sideOf(real), sideOf(modelOf())];
    const [expected, answered] = await Promise.all(
      sides.map(({ etcd, leases: [leaseId = 0n] }) => etcd.grantLease({ leaseId, ttlSeconds: 1 })),
    );
    assert.equal(answered, expected);
  });
});

async function compare(etcd: EtcdCommands, steps: readonly Step[]): Promise<void> {
  const real = sideOf(etcd);
  const model = sideOf(modelOf());
  try {
    const joined = CONTENDERS.flatMap((contender) => [
      { does: "grant", contender } as const,
      { does: "enqueue", contender } as const,
    ]);
    for (const [at, each] of [...joined, ...steps].entries()) {
      const expected = await outcomeOf(real, each);
      fc.pre(expected !== NO_ANSWER);
      const where = `step ${at + 1} of ${steps.map(({ does, contender }) => `${does} ${contender}`).join(", ")}`;
      assert.deepEqual(await outcomeOf(model, each), expected, where);
      await compareWatches(real, model, where);
    }
  } finally {
    for (const { callOff } of [real, model]) callOff.abort();
    // The remaining keys expire.
    await Promise.allSettled(real.leases.map((leaseId) => etcd.revokeLease(leaseId)));
  }
  for (const [at, { deleted }] of real.watches.entries())
    assert.equal(await deleted, await model.watches[at]?.deleted, `watch ${at + 1} of ${JSON.stringify(steps)}`);
}

/** The real server must notify every watcher that the model notified. Cancelling the rest shows that it notified no other. */
async function compareWatches(real: Side, model: Side, where: string): Promise<void> {
  for (const [at, { isDeleted }] of model.watches.entries()) {
    const watch = real.watches[at];
    if (isDeleted === null || !watch) continue;
    const settled = await withDeadline(systemClock, watch.deleted, { limitMs: WATCH_LIMIT_MS });
    assert.deepEqual(settled, { status: "value", value: isDeleted }, `${where}, watch ${at + 1}`);
  }
}

/** The answer, or the kind of error. */
async function outcomeOf(side: Side, step: Step): Promise<unknown> {
  const [settled] = await Promise.allSettled([carryOut(side, step)]);
  if (settled.status === "fulfilled") return settled.value;
  assert.ok(settled.reason instanceof EtcdError, String(settled.reason));
  return `rejected: ${settled.reason.kind}`;
}

async function carryOut(side: Side, { does, contender }: Step): Promise<unknown> {
  const { etcd, folder, leases, positions } = side;
  const leaseId = leases[contender] ?? 0n;
  const key = keyOf(side, contender);
  const position = positions[contender];
  switch (does) {
    case "grant":
      return etcd.grantLease({ leaseId, ttlSeconds: LEASE_SECONDS });
    case "keep":
      return etcd.keepLeaseAlive(leaseId);
    case "revoke":
      return etcd.revokeLease(leaseId);
    case "enqueue":
      return notePosition(side, contender, await etcd.enqueue({ folder, key, leaseId }));
    case "find":
      return position
        ? notePosition(side, contender, await etcd.findPosition({ folder, key, position }))
        : "no position to read";
    case "remove":
      return etcd.removeKey(key);
    case "watch": {
      // Watches the predecessor from the latest read; it may have been deleted since.
      if (!position?.predecessor) return "no key to watch";
      const { predecessor, revision: afterRevision } = position;
      const deleted = etcd.untilDeleted({ key: predecessor, afterRevision, signal: side.callOff.signal });
      const watch: Watch = { deleted, isDeleted: null };
      void deleted.then((isDeleted) => {
        watch.isDeleted = isDeleted;
      });
      return side.watches.push(watch);
    }
    default:
      throw new Error(`unknown step: ${does}`);
  }
}

function keyOf({ folder }: Side, contender: number): string {
  return `${folder}/contender-${contender}`;
}

/** Replaces revision numbers by their order. */
function notePosition(side: Side, contender: number, position: QueuePosition | null): unknown {
  side.positions[contender] = position ?? undefined;
  if (!position) return null;
  const { createRevision, revision, predecessor } = position;
  side.revisions.add(createRevision).add(revision);
  const below = (limit: bigint) => [...side.revisions].filter((seen) => seen < limit).length;
  return {
    createdAfter: below(createRevision),
    readAfter: below(revision),
    predecessor: predecessor?.slice(side.folder.length) ?? null,
  };
}

function sideOf(etcd: Commands): Side {
  const leases = CONTENDERS.map(() => BigInt(`0x${randomUUID().replaceAll("-", "").slice(0, 15)}`) | 1n);
  return {
    etcd,
    folder: `model/${randomUUID()}`,
    leases,
    positions: [],
    revisions: new Set(),
    watches: [],
    callOff: new AbortController(),
  };
}

/** The model without connections: each request of the client is executed at once. */
function modelOf(): EtcdCommands {
  const server = new SimEtcd(new World(1), "model", 1);
  const post = async <T>(path: string, body: unknown) => server.answer("the test", path, body) as T;
  const listen: EtcdRequests["listen"] = (_path, body, { isLast, signal }) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve(false), { once: true });
      server.watch(body as WatchRequest, (message) => resolve(isLast(message as Parameters<typeof isLast>[0])));
    });
  return etcdOver({ post, postStreamed: post, listen, close: () => {} });
}
