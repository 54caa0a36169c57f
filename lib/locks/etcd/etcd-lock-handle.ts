import { LockError } from "../errors";
import type { HandleContext, LockHandle, TryLimits, TryReply } from "../lease-backend";
import type { RandomSource } from "../random";
import { withDeadline } from "../with-deadline";
import { type EtcdCommands, EtcdError, isEtcdError, type QueuePosition } from "./etcd-port";
import { FifoSemaphore, type Ticket } from "./fifo-semaphore";

/** Keep-alives per lease length while waiting; the last one comes with a look at the queue, whatever the watch says. */
const KEEP_ALIVES_PER_LOOK = 2;
/** Callers of one process that stand in one resource's queue; the others wait in front of it. */
const PLACES_IN_LINE = 32;
/** Contenders of one process that join queues at the same time. A join is two writes that etcd brings to disk. */
const JOINS_AT_ONCE = 8;
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

/**
 * What the contenders of one strategy share. A crowd that joined all at once would come too late for its callers, who
 * would take their places back and try again; and the few requests that hand the lock on would wait behind it.
 */
export class EtcdLockShared {
  readonly joins = new FifoSemaphore(JOINS_AT_ONCE);
  readonly etcd: EtcdCommands;
  readonly root: string;
  readonly strategyId: string;
  readonly #lines = new Map<string, FifoSemaphore>();

  constructor({ etcd, root, strategyId }: Pick<EtcdLockShared, "etcd" | "root" | "strategyId">) {
    this.etcd = etcd;
    this.root = root;
    this.strategyId = strategyId;
  }

  lineOf(resource: string): FifoSemaphore {
    const line = this.#lines.get(resource) ?? new FifoSemaphore(PLACES_IN_LINE, () => this.#lines.delete(resource));
    this.#lines.set(resource, line);
    return line;
  }
}

/** One contender in the queue: joins it, keeps its lease alive, looks where it stands, leaves. */
export class EtcdLockHandle implements LockHandle {
  readonly #parts: EtcdLockShared;
  readonly #etcd: EtcdCommands;
  readonly #context: HandleContext;
  readonly #folder: string;
  /** For a place in line, from the first try to the release. */
  #lineTicket: Ticket | null = null;
  /** For the way there. */
  #joinTicket: Ticket | null = null;
  /** Set before it is asked for, so that a grant whose reply was lost can be revoked. */
  #lease: Lease | null = null;
  /** Null: not in the queue, as far as is known. */
  #place: QueuePosition | null = null;

  constructor(parts: EtcdLockShared, context: HandleContext) {
    this.#parts = parts;
    this.#etcd = parts.etcd;
    this.#context = context;
    this.#folder = `${parts.root}/${context.resource}`;
  }

  async tryAcquire({ signal, waitLimitMs }: TryLimits): Promise<TryReply> {
    try {
      const lease = this.#lease;
      const place = this.#place;
      if (lease && place) return await this.#look(lease, place, signal);
      // Whoever may not wait finds out at once.
      if (waitLimitMs > 0 && !this.#takeTickets().every(({ isIn }) => isIn)) return { status: "held" };
      return await this.#join(signal);
    } catch (error) {
      throw this.#asLockError(error);
    }
  }

  async waitForTurn(signal: AbortSignal): Promise<void> {
    const place = this.#place;
    if (!this.#lease || !place) {
      for (const ticket of this.#takeTickets()) await ticket.untilIn(signal);
      return;
    }
    // The first to say that another look is due; then the others are called off.
    const enough = new AbortController();
    const onAbort = () => enough.abort();
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    const waits = [this.#predecessorGone(place, enough.signal), this.#keepAlive(this.#lease, enough.signal)];
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
    this.#giveTicketsBack();
    const lease = this.#lease;
    if (!lease) return "released";
    try {
      // The key first: the next in the queue need not wait for the lease to be cleared away.
      const isRemoved = this.#isFirst && (await this.#etcd.removeKey(lease.key));
      const isRevoked = await this.#etcd.revokeLease(lease.leaseId);
      const wasThere = this.#isFirst ? isRemoved : isRevoked;
      this.#leave();
      return wasThere ? "released" : "not_held";
    } catch (error) {
      throw this.#asLockError(error);
    }
  }

  get #isFirst(): boolean {
    return this.#place?.predecessor === null;
  }

  /** In line first, then on the way there: whoever is on the way takes up nobody else's place. */
  #takeTickets(): readonly Ticket[] {
    this.#lineTicket ??= this.#parts.lineOf(this.#context.resource).take();
    if (!this.#lineTicket.isIn) return [this.#lineTicket];
    this.#joinTicket ??= this.#parts.joins.take();
    return [this.#lineTicket, this.#joinTicket];
  }

  #giveTicketsBack(): void {
    this.#joinTicket?.giveBack();
    this.#lineTicket?.giveBack();
    this.#joinTicket = null;
    this.#lineTicket = null;
  }

  async #join(signal: AbortSignal): Promise<TryReply> {
    try {
      // Our key is gone; a lease that outlived it serves nobody.
      if (this.#lease) await this.#etcd.revokeLease(this.#lease.leaseId);
      this.#lease = await this.#newLease(signal);
      const lease = this.#lease;
      const { key, leaseId } = lease;
      const place = { folder: this.#folder, key, leaseId };
      this.#place = await this.#throughBreaks(signal, () => this.#etcd.enqueue(place));
      return this.#answer(this.#place, lease);
    } finally {
      this.#joinTicket?.giveBack();
      this.#joinTicket = null;
    }
  }

  async #newLease(signal: AbortSignal): Promise<Lease> {
    const ttlSeconds = Math.ceil(this.#context.ttlMs / 1_000);
    const leaseId = newLeaseId(this.#context.random);
    const key = `${this.#folder}/${leaseId.toString(16)}`;
    this.#lease = { leaseId, key, lengthMs: ttlSeconds * 1_000 };
    const grantedSeconds = await this.#etcd.grantLease({ leaseId, ttlSeconds });
    if (signal.aborted) {
      // The runner has given this try up, and its release may have come before the grant.
      await this.#etcd.revokeLease(leaseId);
      throw new EtcdError("unreachable", "the try was given up");
    }
    return { leaseId, key, lengthMs: grantedSeconds * 1_000 };
  }

  async #look(lease: Lease, place: QueuePosition, signal: AbortSignal): Promise<TryReply> {
    this.#place = await this.#throughBreaks(signal, () => this.#confirm(lease, place));
    // The lease ran out, or somebody removed the key (an operator broke the lock): the next try queues up anew.
    return this.#place ? this.#answer(this.#place, lease) : { status: "held" };
  }

  /** A link that breaks costs no place: the lease outlives it, and the same question has the same answer afterwards. */
  async #throughBreaks<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
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

  /** Keeps the lease alive and looks at the queue. @returns null when the lease or the key is gone */
  async #confirm({ leaseId, key }: Lease, place: QueuePosition): Promise<QueuePosition | null> {
    const [seconds, found] = await Promise.all([
      this.#etcd.keepLeaseAlive(leaseId),
      this.#etcd.findPosition({ folder: this.#folder, key, place }),
    ]);
    return seconds > 0 ? found : null;
  }

  /** Either way the lease got its full length in this very try, so its validity counts from the try's beginning. */
  #answer({ createRevision, predecessor }: QueuePosition, { lengthMs }: Lease): TryReply {
    if (predecessor !== null) return { status: "held" };
    const validForMs = Math.min(this.#context.ttlMs, lengthMs);
    return { status: "granted", fencingToken: createRevision, validForMs };
  }

  async #predecessorGone({ predecessor, revision }: QueuePosition, signal: AbortSignal): Promise<void> {
    const watch = { key: predecessor ?? "", afterRevision: revision, signal };
    if (predecessor !== null && (await this.#etcd.untilDeleted(watch))) return;
    await this.#context.clock.sleep(LOST_WATCH_PAUSE_MS, signal);
  }

  /** Keeps a waiter's lease alive for as long as that works, and for one length of it at most: then it looks again. */
  async #keepAlive({ leaseId, lengthMs }: Lease, signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    const pauseMs = lengthMs / KEEP_ALIVES_PER_LOOK;
    for (let turn = 1; turn < KEEP_ALIVES_PER_LOOK; turn += 1) {
      await clock.sleep(pauseMs, signal);
      if (signal.aborted) return;
      const kept = await withDeadline(clock, this.#etcd.keepLeaseAlive(leaseId), { limitMs: pauseMs, signal });
      // A failure ends the wait as well: the next try meets it again, and knows what to make of it.
      if (kept.status !== "value" || kept.value === 0) return;
    }
    await clock.sleep(pauseMs, signal);
  }

  #leave(): void {
    this.#lease = null;
    this.#place = null;
  }

  #asLockError(error: unknown): unknown {
    if (!isEtcdError(error)) return error;
    return new LockError({
      code: isEtcdError(error, "refused") ? "config_invalid" : "backend_unavailable",
      strategyId: this.#parts.strategyId,
      resource: this.#context.resource,
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
