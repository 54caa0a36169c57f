import { LockError } from "../errors";
import type { Contender, Contest, LeaseBackend, TryLimits, TryReply } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { RandomSource } from "../random";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { type EtcdCommands, EtcdError, isEtcdError, type QueuePlace } from "./etcd-port";

export const etcdLockTraits: StrategyTraits = {
  id: "etcd-lock",
  family: "etcd",
  kind: "lock",
  mechanism:
    "Keys that live as long as their leases, queued by create revision; the lowest holds, each other watches the one before it.",
  remark: "fenced queue",
  needs: ["etcd"],
  waiting: "notify",
  fair: true,
  expiryClock: "server",
  fencingSource: "create revision of the holder's key",
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "survives", serverRestart: "survives" },
};

/** Keep-alives per lease length while waiting; the queue is looked at with each, whether or not the watch has told. */
const LOOKS_PER_LEASE = 3;
/** Pause before a waiter asks again for a place it could not confirm. */
const OUTAGE_PAUSE_MS = 100;
/** Pause after a watch that ended without a word, before the queue is looked at again. */
const LOST_WATCH_PAUSE_MS = 250;

interface Lease {
  readonly leaseId: bigint;
  readonly key: string;
  /** What the server granted. */
  readonly lengthMs: number;
}

class EtcdLockContender implements Contender {
  readonly #etcd: EtcdCommands;
  readonly #contest: Contest;
  readonly #folder: string;
  /** Set before it is asked for, so that a grant whose reply was lost can be revoked. */
  #lease: Lease | null = null;
  /** Null: not in the queue, as far as is known. */
  #place: QueuePlace | null = null;

  constructor(etcd: EtcdCommands, contest: Contest, root: string) {
    this.#etcd = etcd;
    this.#contest = contest;
    this.#folder = `${root}/${contest.resource}`;
  }

  async tryAcquire({ signal }: TryLimits): Promise<TryReply> {
    try {
      const lease = this.#lease;
      const place = this.#place;
      return lease && place ? await this.#look(lease, place, signal) : await this.#join(signal);
    } catch (error) {
      throw this.#asLockError(error);
    }
  }

  async waitForTurn(signal: AbortSignal): Promise<void> {
    const { clock } = this.#contest;
    const lookInMs = this.#lease && this.#place ? this.#lease.lengthMs / LOOKS_PER_LEASE : LOST_WATCH_PAUSE_MS;
    const enough = new AbortController();
    const onAbort = () => enough.abort();
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    const waits = [this.#predecessorGone(enough.signal), clock.sleep(lookInMs, enough.signal)];
    await Promise.race(waits);
    enough.abort();
    signal.removeEventListener("abort", onAbort);
    await Promise.all(waits);
  }

  async renew() {
    const lease = this.#lease;
    const place = this.#place;
    if (!lease || !place) return "lost";
    try {
      return (await this.#confirm(lease, place)) ? "renewed" : "lost";
    } catch (error) {
      throw this.#asLockError(error);
    }
  }

  async release() {
    const lease = this.#lease;
    if (!lease) return "released";
    try {
      // The key first: the next in the queue need not wait for the lease to be cleared away.
      const isRemoved = this.#place !== null && (await this.#etcd.removeKey(lease.key));
      const isRevoked = await this.#etcd.revokeLease(lease.leaseId);
      const wasHeld = this.#place === null ? isRevoked : isRemoved;
      this.#leave();
      return wasHeld ? "released" : "not_held";
    } catch (error) {
      throw this.#asLockError(error);
    }
  }

  async #join(signal: AbortSignal): Promise<TryReply> {
    // Our key is gone; a lease that outlived it serves nobody.
    if (this.#lease) await this.#etcd.revokeLease(this.#lease.leaseId);
    const ttlSeconds = Math.ceil(this.#contest.ttlMs / 1_000);
    const leaseId = newLeaseId(this.#contest.random);
    const key = `${this.#folder}/${leaseId.toString(16)}`;
    this.#lease = { leaseId, key, lengthMs: ttlSeconds * 1_000 };
    const grantedSeconds = await this.#etcd.grantLease({ leaseId, ttlSeconds });
    if (signal.aborted) {
      // The runner has given this try up, and its release may have come before the grant.
      await this.#etcd.revokeLease(leaseId);
      throw new EtcdError("unreachable", "the try was given up");
    }
    this.#lease = { leaseId, key, lengthMs: grantedSeconds * 1_000 };
    this.#place = await this.#etcd.enqueue({ folder: this.#folder, key, leaseId });
    return this.#answer(this.#place, this.#lease);
  }

  /** A link that breaks meanwhile costs no place: the lease outlives it, and the key is where it was. */
  async #look(lease: Lease, place: QueuePlace, signal: AbortSignal): Promise<TryReply> {
    for (;;) {
      try {
        this.#place = await this.#confirm(lease, place);
        // The lease ran out, or somebody removed the key (an operator broke the lock): the next try queues up anew.
        return this.#place ? this.#answer(this.#place, lease) : { status: "held" };
      } catch (error) {
        if (!isEtcdError(error, "unreachable")) throw error;
        await this.#contest.clock.sleep(OUTAGE_PAUSE_MS, signal);
        if (signal.aborted) throw error;
      }
    }
  }

  /** Keeps the lease alive and looks at the queue. @returns null when the lease or the key is gone */
  async #confirm({ leaseId, key }: Lease, { createRevision }: QueuePlace): Promise<QueuePlace | null> {
    const [seconds, place] = await Promise.all([
      this.#etcd.keepLeaseAlive(leaseId),
      this.#etcd.findPlace({ folder: this.#folder, key, createRevision }),
    ]);
    return seconds > 0 ? place : null;
  }

  /** Either way the lease got its full length in this very try, so its validity counts from the try's beginning. */
  #answer({ createRevision, predecessor }: QueuePlace, { lengthMs }: Lease): TryReply {
    if (predecessor !== null) return { status: "held" };
    const validForMs = Math.min(this.#contest.ttlMs, lengthMs);
    return { status: "granted", fencingToken: createRevision, validForMs };
  }

  async #predecessorGone(signal: AbortSignal): Promise<void> {
    const place = this.#place;
    if (!place || place.predecessor === null) return this.#contest.clock.sleep(LOST_WATCH_PAUSE_MS, signal);
    const watch = { key: place.predecessor, afterRevision: place.revision, signal };
    if (await this.#etcd.untilDeleted(watch)) return;
    await this.#contest.clock.sleep(LOST_WATCH_PAUSE_MS, signal);
  }

  #leave(): void {
    this.#lease = null;
    this.#place = null;
  }

  #asLockError(error: unknown): unknown {
    if (!isEtcdError(error)) return error;
    return new LockError({
      code: isEtcdError(error, "refused") ? "config_invalid" : "backend_unavailable",
      strategyId: etcdLockTraits.id,
      resource: this.#contest.resource,
      message: `etcd: ${error.message}`,
      isDefinite: true,
      cause: error,
    });
  }
}

/** Chosen here and not by the server, so that it is known whatever becomes of the reply. 62 bits: positive, and never zero. */
function newLeaseId(random: RandomSource): bigint {
  return (BigInt(`0x${random.hex(16)}`) >> 2n) | 1n;
}

export interface EtcdLockOptions extends RunnerOptions {
  /** Prefix of every lock. `etcdctl lock <root>/<resource>` stands in the same queue. */
  readonly root: string;
}

/**
 * etcd's own lock recipe: a lease per contender, a key `<root>/<resource>/<lease in hex>` that lives as long as the lease,
 * and a queue ordered by create revision. The lowest holds; each waiter watches the deletion of the key before it.
 *
 * Guarantees one holder at a time, first come first served, one waiter woken per release, and no key that outlives its
 * lease: a holder's crash costs the others one TTL and the second the server may take to notice. A waiter keeps its own
 * lease alive and looks at the queue with each keep-alive, so a lost watch costs a third of a lease, never a hang.
 * A holder paused past the TTL may wake beside a new one; with the fencing token checked by the resource its
 * write is refused, without it two writes meet. Restarted servers keep queue and leases; a server that comes back without
 * its data forgets both, and its revisions start again.
 * The fencing token is the create revision of the holder's key, etcd's name for Chubby's sequencer: it rises with
 * every change of the cluster.
 * The server's clock ends the lease. Its length is whole seconds, rounded up, and at least the server's minimum (two
 * seconds by default), so the server keeps it for `ttlMs` or more; the caller's monotonic clock, minus drift, says when
 * to stop believing in it, counted from before the grant or the last keep-alive was sent.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`
 * @see https://github.com/etcd-io/etcd/blob/main/client/v3/concurrency/mutex.go
 */
export function createEtcdLock(
  etcd: EtcdCommands,
  dependencies: RunnerDependencies,
  options: Partial<EtcdLockOptions> = {},
): LockStrategy {
  const { root = "locks", ...runnerOptions } = options;
  const backend: LeaseBackend = {
    traits: etcdLockTraits,
    leaseKind: "ttl",
    enter: (contest) => new EtcdLockContender(etcd, contest, root),
  };
  return new LeaseRunner(backend, dependencies, runnerOptions);
}
