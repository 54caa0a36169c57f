import { EtcdError, type QueuePosition } from "../../lib/locks/etcd/etcd-port";
import { SimServer } from "./sim-server";

interface Lease {
  readonly id: bigint;
  readonly seconds: number;
  readonly createdBy: string;
  /** On the server's clock. */
  expiresAtMs: number;
}

interface Key {
  readonly createRevision: bigint;
  readonly leaseId: bigint;
}

interface Deletion {
  readonly key: string;
  readonly revision: bigint;
}

export interface DeletionWatch {
  readonly key: string;
  readonly fire: () => void;
}

/** Shortest lease that etcd grants with its default election timeout. */
const SHORTEST_LEASE_SECONDS = 2;
/** Longest time until the server detects that a lease has expired. */
const MAX_EXPIRY_DELAY_MS = 500;

/** One etcd server: leases, keys bound to leases, a queue ordered by create revision, and deletion watches. */
export class SimEtcd extends SimServer {
  #leases = new Map<bigint, Lease>();
  #keys = new Map<string, Key>();
  #deletions: Deletion[] = [];
  #watches = new Set<DeletionWatch>();
  #revision = 1n;

  grantLease(actor: string, id: bigint, ttlSeconds: number): number {
    if (this.#leases.has(id)) throw new EtcdError("refused", "lease already exists");
    const seconds = Math.max(SHORTEST_LEASE_SECONDS, ttlSeconds);
    this.#leases.set(id, { id, seconds, createdBy: actor, expiresAtMs: this.nowMs + seconds * 1_000 });
    this.#watchExpiry(id, seconds * 1_000);
    return seconds;
  }

  keepLeaseAlive(actor: string, id: bigint): number {
    const lease = this.#leases.get(id);
    if (!lease) return 0;
    this.recordRenewal(this.#holderFor(actor, lease), nameOf(lease));
    lease.expiresAtMs = this.nowMs + lease.seconds * 1_000;
    return lease.seconds;
  }

  revokeLease(actor: string, id: bigint): boolean {
    const lease = this.#leases.get(id);
    if (!lease) return false;
    this.recordRelease(this.#holderFor(actor, lease), nameOf(lease));
    this.#end(lease, "revoked");
    return true;
  }

  enqueue(folder: string, key: string, leaseId: bigint): QueuePosition {
    const existing = this.#keys.get(key);
    if (existing) return this.#positionOf(folder, existing.createRevision);
    if (!this.#leases.has(leaseId)) throw new EtcdError("no-lease", "requested lease not found");
    const predecessor = this.#lastBefore(folder, null);
    this.#revision += 1n;
    this.#keys.set(key, { createRevision: this.#revision, leaseId });
    this.world.trace(() => `${this.name}: ${key.slice(-8)} queues behind ${predecessor?.slice(-8) ?? "no other key"}`);
    return { createRevision: this.#revision, predecessor, revision: this.#revision };
  }

  findPosition(folder: string, key: string, { createRevision, predecessor }: QueuePosition): QueuePosition | null {
    if (!this.#keys.has(key)) return null;
    const lastSeen = this.#keys.get(predecessor ?? key);
    // A key that was deleted and created again under the same name stands behind this one.
    if (lastSeen && lastSeen.createRevision <= createRevision)
      return { createRevision, predecessor, revision: this.#revision };
    return this.#positionOf(folder, createRevision);
  }

  removeKey(actor: string, key: string): boolean {
    const existing = this.#keys.get(key);
    if (!existing) return false;
    const lease = this.#leases.get(existing.leaseId);
    if (lease && lease.createdBy !== actor)
      this.world.reportViolation("ownership", `${this.name}: ${actor} removed the key of ${lease.createdBy}`);
    this.#delete(key, "removed");
    return true;
  }

  /** @returns a function that ends the watch; null if the key was deleted after `afterRevision` */
  watchDeletion(watch: DeletionWatch, afterRevision: bigint): (() => void) | null {
    if (this.#deletions.some(({ key, revision }) => key === watch.key && revision > afterRevision)) return null;
    this.#watches.add(watch);
    return () => this.#watches.delete(watch);
  }

  protected override dropData(): void {
    this.#leases = new Map();
    this.#keys = new Map();
    this.#deletions = [];
    this.#revision = 1n;
  }

  protected override onRestart(): void {
    this.#watches = new Set();
  }

  /** The process that created the lease owns it. */
  #holderFor(actor: string, lease: Lease): string {
    return actor === lease.createdBy ? nameOf(lease) : actor;
  }

  #positionOf(folder: string, createRevision: bigint): QueuePosition {
    return { createRevision, predecessor: this.#lastBefore(folder, createRevision), revision: this.#revision };
  }

  #lastBefore(folder: string, revision: bigint | null): string | null {
    let last: string | null = null;
    let highest = 0n;
    for (const [key, { createRevision }] of this.#keys) {
      if (!key.startsWith(`${folder}/`) || createRevision <= highest) continue;
      if (revision !== null && createRevision >= revision) continue;
      highest = createRevision;
      last = key;
    }
    return last;
  }

  #watchExpiry(id: bigint, afterMs: number): void {
    this.world.schedule({
      afterMs: afterMs + this.world.random.between(0.01, MAX_EXPIRY_DELAY_MS),
      run: () => {
        const lease = this.#leases.get(id);
        if (!lease) return;
        const leftMs = lease.expiresAtMs - this.nowMs;
        if (leftMs > 0) this.#watchExpiry(id, leftMs);
        else this.#end(lease, "expired");
      },
    });
  }

  #end(lease: Lease, why: string): void {
    this.#leases.delete(lease.id);
    for (const [key, { leaseId }] of this.#keys) if (leaseId === lease.id) this.#delete(key, why);
  }

  #delete(key: string, why: string): void {
    this.#keys.delete(key);
    this.#revision += 1n;
    this.#deletions.push({ key, revision: this.#revision });
    this.world.trace(() => `${this.name}: ${key.slice(-8)} is deleted (${why})`);
    for (const watch of this.#watches) {
      if (watch.key !== key) continue;
      this.#watches.delete(watch);
      watch.fire();
    }
  }
}

function nameOf({ id }: Lease): string {
  return `lease-${id.toString(16)}`;
}
