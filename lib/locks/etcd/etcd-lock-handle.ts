import { LockError } from "../errors";
import type { HandleContext, LockHandle, TryLimits, TryReply } from "../lease-backend";
import type { RandomSource } from "../random";
import { withDeadline } from "../with-deadline";
import { type EtcdCommands, EtcdError, isEtcdError, type QueuePosition } from "./etcd-port";
import { FifoSemaphore, type Permit } from "./fifo-semaphore";

/**
 * Keep-alives per lease length while waiting. The last one also checks the queue position, in case the watch was lost.
 */
const KEEP_ALIVES_PER_CHECK = 2;
/** Callers of one process that queue in etcd for one resource. Further callers wait in this process. */
const QUEUED_CALLERS_PER_RESOURCE = 32;
/** Handles of one process that join queues concurrently. Each join is two writes that etcd syncs to disk. */
const CONCURRENT_JOINS = 8;
/** Pause before a waiter retries a request that got no answer. */
const OUTAGE_PAUSE_MS = 100;
/** Pause between a watch that ended without an event and the next check of the queue. */
const LOST_WATCH_PAUSE_MS = 250;

interface Lease {
  readonly leaseId: bigint;
  readonly key: string;
  /** The length that the server granted. */
  readonly lengthMs: number;
}

/**
 * What the handles of one strategy share. The permits limit how many callers join at once. Without a limit, a crowd
 * would join too late for its callers, leave and retry, and would delay the few requests that pass the lock on.
 */
export class EtcdLockShared {
  readonly joins = new FifoSemaphore(CONCURRENT_JOINS);
  readonly etcd: EtcdCommands;
  readonly root: string;
  readonly strategyId: string;
  readonly #queuePermits = new Map<string, FifoSemaphore>();

  constructor({ etcd, root, strategyId }: Pick<EtcdLockShared, "etcd" | "root" | "strategyId">) {
    this.etcd = etcd;
    this.root = root;
    this.strategyId = strategyId;
  }

  queuePermitsOf(resource: string): FifoSemaphore {
    const permits =
      this.#queuePermits.get(resource) ??
      new FifoSemaphore(QUEUED_CALLERS_PER_RESOURCE, () => this.#queuePermits.delete(resource));
    this.#queuePermits.set(resource, permits);
    return permits;
  }
}

/** One handle in the queue: joins, keeps its lease alive, checks its position, leaves. */
export class EtcdLockHandle implements LockHandle {
  readonly #shared: EtcdLockShared;
  readonly #etcd: EtcdCommands;
  readonly #context: HandleContext;
  readonly #folder: string;
  /** Held from the first try to the release. */
  #queuePermit: Permit | null = null;
  /** Held while joining the queue. */
  #joinPermit: Permit | null = null;
  /** Set before the request is sent, so that a grant whose reply was lost can be revoked. */
  #lease: Lease | null = null;
  /** Null if not in the queue, as far as this handle can tell. */
  #position: QueuePosition | null = null;

  constructor(shared: EtcdLockShared, context: HandleContext) {
    this.#shared = shared;
    this.#etcd = shared.etcd;
    this.#context = context;
    this.#folder = `${shared.root}/${context.resource}`;
  }

  async tryAcquire({ signal, waitLimitMs }: TryLimits): Promise<TryReply> {
    try {
      const lease = this.#lease;
      const position = this.#position;
      if (lease && position) return await this.#checkPosition(lease, position, signal);
      // A caller that may not wait skips the permits and gets an answer at once.
      if (waitLimitMs > 0 && !this.#requestPermits().every(({ isGranted }) => isGranted)) return { status: "held" };
      return await this.#join(signal);
    } catch (error) {
      throw this.#asLockError(error);
    }
  }

  async waitForTurn(signal: AbortSignal): Promise<void> {
    const position = this.#position;
    if (!this.#lease || !position) {
      for (const permit of this.#requestPermits()) await permit.untilGranted(signal);
      return;
    }
    // The first of the waits below ends the others.
    const stopWaiting = new AbortController();
    const onAbort = () => stopWaiting.abort();
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    const waits = [
      this.#predecessorGone(position, stopWaiting.signal),
      this.#keepAlive(this.#lease, stopWaiting.signal),
    ];
    await Promise.race(waits);
    stopWaiting.abort();
    signal.removeEventListener("abort", onAbort);
    await Promise.all(waits);
  }

  async renew() {
    const lease = this.#lease;
    const position = this.#position;
    if (!lease || !position) return "lost";
    try {
      return (await this.#confirm(lease, position)) ? "renewed" : "lost";
    } catch (error) {
      throw this.#asLockError(error);
    }
  }

  async release() {
    this.#releasePermits();
    const lease = this.#lease;
    if (!lease) return "released";
    try {
      // Delete the key first, so that the next waiter does not wait for the lease to be revoked.
      const isRemoved = this.#isFirst && (await this.#etcd.removeKey(lease.key));
      const isRevoked = await this.#etcd.revokeLease(lease.leaseId);
      const wasThere = this.#isFirst ? isRemoved : isRevoked;
      this.#reset();
      return wasThere ? "released" : "not_held";
    } catch (error) {
      throw this.#asLockError(error);
    }
  }

  get #isFirst(): boolean {
    return this.#position?.predecessor === null;
  }

  /**
   * Requests the queue permit before the join permit, so that a caller never holds a join permit while it waits for the
   * queue.
   */
  #requestPermits(): readonly Permit[] {
    this.#queuePermit ??= this.#shared.queuePermitsOf(this.#context.resource).request();
    if (!this.#queuePermit.isGranted) return [this.#queuePermit];
    this.#joinPermit ??= this.#shared.joins.request();
    return [this.#queuePermit, this.#joinPermit];
  }

  #releasePermits(): void {
    this.#joinPermit?.release();
    this.#queuePermit?.release();
    this.#joinPermit = null;
    this.#queuePermit = null;
  }

  async #join(signal: AbortSignal): Promise<TryReply> {
    try {
      // The key is gone, so its lease is useless.
      if (this.#lease) await this.#etcd.revokeLease(this.#lease.leaseId);
      this.#lease = await this.#newLease(signal);
      const lease = this.#lease;
      const { key, leaseId } = lease;
      const entry = { folder: this.#folder, key, leaseId };
      this.#position = await this.#retryWhileUnreachable(signal, () => this.#etcd.enqueue(entry));
      return this.#toReply(this.#position, lease);
    } finally {
      this.#joinPermit?.release();
      this.#joinPermit = null;
    }
  }

  async #newLease(signal: AbortSignal): Promise<Lease> {
    const ttlSeconds = Math.ceil(this.#context.ttlMs / 1_000);
    const leaseId = newLeaseId(this.#context.random);
    const key = `${this.#folder}/${leaseId.toString(16)}`;
    this.#lease = { leaseId, key, lengthMs: ttlSeconds * 1_000 };
    const grantedSeconds = await this.#etcd.grantLease({ leaseId, ttlSeconds });
    if (signal.aborted) {
      // The runner has given up this try, and its release may have run before the lease was granted.
      await this.#etcd.revokeLease(leaseId);
      throw new EtcdError("unreachable", "the runner gave up this try");
    }
    return { leaseId, key, lengthMs: grantedSeconds * 1_000 };
  }

  async #checkPosition(lease: Lease, position: QueuePosition, signal: AbortSignal): Promise<TryReply> {
    this.#position = await this.#retryWhileUnreachable(signal, () => this.#confirm(lease, position));
    // The lease expired or an operator deleted the key. The next try joins the queue again.
    return this.#position ? this.#toReply(this.#position, lease) : { status: "held" };
  }

  /**
   * Retries through a broken connection: the lease outlives it, so the queue position is kept, and the request is
   * idempotent.
   */
  async #retryWhileUnreachable<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!isEtcdError(error, "unreachable")) throw error;
        await this.#context.clock.sleep(OUTAGE_PAUSE_MS, signal);
        if (signal.aborted) throw error;
      }
    }
  }

  /** Keeps the lease alive and checks the queue. @returns null if the lease or the key is gone */
  async #confirm({ leaseId, key }: Lease, position: QueuePosition): Promise<QueuePosition | null> {
    const [seconds, found] = await Promise.all([
      this.#etcd.keepLeaseAlive(leaseId),
      this.#etcd.findPosition({ folder: this.#folder, key, position }),
    ]);
    return seconds > 0 ? found : null;
  }

  /** The lease was granted or renewed in this try, so its validity counts from the start of the try. */
  #toReply({ createRevision, predecessor }: QueuePosition, { lengthMs }: Lease): TryReply {
    if (predecessor !== null) return { status: "held" };
    const validForMs = Math.min(this.#context.ttlMs, lengthMs);
    return { status: "granted", fencingToken: createRevision, validForMs };
  }

  async #predecessorGone({ predecessor, revision }: QueuePosition, signal: AbortSignal): Promise<void> {
    const watch = { key: predecessor ?? "", afterRevision: revision, signal };
    if (predecessor !== null && (await this.#etcd.untilDeleted(watch))) return;
    await this.#context.clock.sleep(LOST_WATCH_PAUSE_MS, signal);
  }

  /** Keeps a waiter's lease alive for at most one lease length. Then the waiter checks its position. */
  async #keepAlive({ leaseId, lengthMs }: Lease, signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    const pauseMs = lengthMs / KEEP_ALIVES_PER_CHECK;
    for (let turn = 1; turn < KEEP_ALIVES_PER_CHECK; turn += 1) {
      await clock.sleep(pauseMs, signal);
      if (signal.aborted) return;
      const kept = await withDeadline(clock, this.#etcd.keepLeaseAlive(leaseId), { limitMs: pauseMs, signal });
      // A failure also ends the wait: the next try fails the same way and reports it.
      if (kept.status !== "value" || kept.value === 0) return;
    }
    await clock.sleep(pauseMs, signal);
  }

  #reset(): void {
    this.#lease = null;
    this.#position = null;
  }

  #asLockError(error: unknown): unknown {
    if (!isEtcdError(error)) return error;
    return new LockError({
      code: isEtcdError(error, "refused") ? "config_invalid" : "backend_unavailable",
      strategyId: this.#shared.strategyId,
      resource: this.#context.resource,
      message: `etcd: ${error.message}`,
      isDefinite: true,
      cause: error,
    });
  }
}

/**
 * Generated by the client, so that a lease whose grant reply was lost can be revoked. 62 bits: positive and never zero.
 */
function newLeaseId(random: RandomSource): bigint {
  return (BigInt(`0x${random.hex(16)}`) >> 2n) | 1n;
}
