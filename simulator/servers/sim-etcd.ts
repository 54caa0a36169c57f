import { EtcdError } from "../../lib/locks/etcd/etcd-port";
import {
  base64Of,
  type Compare,
  type LeaseRequest,
  type PutRequest,
  type RangeRequest,
  type RequestOp,
  type Transaction,
  textOf,
  type WatchRequest,
} from "./etcd-requests";
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
  /** 0: no lease. */
  readonly leaseId: bigint;
}

interface Deletion {
  readonly key: string;
  readonly revision: bigint;
}

interface Watch {
  readonly key: string;
  readonly fire: () => void;
}

/** Shortest lease that etcd grants with its default election timeout. */
const SHORTEST_LEASE_SECONDS = 2;
/** Longest time until the server detects that a lease has expired. */
const MAX_EXPIRY_DELAY_MS = 500;
const DELETED = { events: [{ type: "DELETE" }] };

/**
 * One etcd server behind its JSON gateway: leases, keys with create revisions, transactions and deletion watches. It evaluates the
 * compares, ranges and revisions of each request as they were sent.
 */
export class SimEtcd extends SimServer {
  #leases = new Map<bigint, Lease>();
  #keys = new Map<string, Key>();
  #deletions: Deletion[] = [];
  #watches = new Set<Watch>();
  #revision = 1n;

  /** @throws {EtcdError} as the gateway does for the server's error answers */
  answer(actor: string, path: string, body: unknown): unknown {
    switch (path) {
      case "/v3/lease/grant":
        return this.#grantLease(actor, body as LeaseRequest);
      case "/v3/lease/keepalive":
        return this.#keepLeaseAlive(actor, body as LeaseRequest);
      case "/v3/lease/revoke":
        return this.#revokeLease(actor, body as LeaseRequest);
      case "/v3/kv/txn":
        return this.#transact(body as Transaction);
      case "/v3/kv/deleterange":
        return this.#deleteKey(actor, textOf((body as RangeRequest).key));
      default:
        throw new EtcdError("refused", `the simulator has no model of ${path}`);
    }
  }

  /** Delivers the first deletion of the key from the start revision on. @returns a function that ends the watch */
  watch({ create_request: { key: encoded, start_revision } }: WatchRequest, deliver: (message: unknown) => void) {
    const key = textOf(encoded);
    const fire = () => deliver(DELETED);
    const watch: Watch = { key, fire };
    if (this.#deletions.some((deletion) => deletion.key === key && deletion.revision >= BigInt(start_revision))) fire();
    else this.#watches.add(watch);
    return () => void this.#watches.delete(watch);
  }

  /** Whether a key belongs to a lease of the process. */
  storesLockOf(process: string): boolean {
    return [...this.#keys.values()].some(({ leaseId }) => this.#leases.get(leaseId)?.createdBy === process);
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

  #grantLease(actor: string, { ID, TTL = "0" }: LeaseRequest) {
    const id = BigInt(ID);
    if (this.#leases.has(id)) throw new EtcdError("refused", "lease already exists");
    const seconds = Math.max(SHORTEST_LEASE_SECONDS, Number(TTL));
    this.#leases.set(id, { id, seconds, createdBy: actor, expiresAtMs: this.nowMs + seconds * 1_000 });
    this.#watchExpiry(id, seconds * 1_000);
    return { ID, TTL: String(seconds) };
  }

  #keepLeaseAlive(actor: string, { ID }: LeaseRequest) {
    const lease = this.#leases.get(BigInt(ID));
    if (!lease) return { ID };
    this.recordRenewal(this.#holderFor(actor, lease), nameOf(lease));
    lease.expiresAtMs = this.nowMs + lease.seconds * 1_000;
    return { ID, TTL: String(lease.seconds) };
  }

  #revokeLease(actor: string, { ID }: LeaseRequest) {
    const lease = this.#leases.get(BigInt(ID));
    if (!lease) throw noLease();
    this.recordRelease(this.#holderFor(actor, lease), nameOf(lease));
    this.#end(lease, "revoked");
    return {};
  }

  #transact({ compare = [], success = [], failure = [] }: Transaction) {
    const succeeded = compare.every((each) => this.#holds(each));
    const requests = succeeded ? success : failure;
    const puts = requests.flatMap(({ request_put }) => request_put ?? []);
    if (puts.some(({ lease = "0" }) => lease !== "0" && !this.#leases.has(BigInt(lease)))) throw noLease();
    // All changes of a transaction share one revision.
    if (puts.length > 0) this.#revision += 1n;
    const responses = requests.map((request) => this.#carryOut(request));
    return { header: { revision: String(this.#revision) }, ...(succeeded ? { succeeded } : {}), responses };
  }

  #carryOut({ request_range: range, request_put: put }: RequestOp) {
    if (put) this.#put(put);
    return range ? { response_range: { kvs: this.#range(range) } } : {};
  }

  /** A key that does not exist has the create revision 0. */
  #holds({ key, target, result, create_revision: wanted }: Compare): boolean {
    if (target !== "CREATE") throw new EtcdError("refused", `the simulator has no model of the compare ${target}`);
    const found = this.#keys.get(textOf(key))?.createRevision ?? 0n;
    if (result === "EQUAL") return found === BigInt(wanted);
    if (result === "GREATER") return found > BigInt(wanted);
    if (result === "LESS") return found < BigInt(wanted);
    return found !== BigInt(wanted);
  }

  /** Sorted by create revision. */
  #range(request: RangeRequest): { key: string; create_revision: string }[] {
    const [first, end] = [textOf(request.key), textOf(request.range_end ?? "")];
    const latest = request.max_create_revision === undefined ? null : BigInt(request.max_create_revision);
    const found = [...this.#keys]
      .filter(([key]) => (end === "" ? key === first : key >= first && key < end))
      .filter(([, { createRevision }]) => latest === null || createRevision <= latest)
      .sort(([, one], [, other]) => Number(one.createRevision - other.createRevision));
    if (request.sort_order === "DESCEND") found.reverse();
    return found
      .slice(0, Number(request.limit ?? 0) || found.length)
      .map(([key, { createRevision }]) => ({ key: base64Of(key), create_revision: String(createRevision) }));
  }

  #put({ key: encoded, lease = "0" }: PutRequest): void {
    const key = textOf(encoded);
    const createRevision = this.#keys.get(key)?.createRevision ?? this.#revision;
    this.#keys.set(key, { createRevision, leaseId: BigInt(lease) });
    this.world.trace(() => `${this.name}: ${key.slice(-8)} queues with revision ${createRevision}`);
  }

  #deleteKey(actor: string, key: string) {
    const existing = this.#keys.get(key);
    if (!existing) return {};
    const lease = this.#leases.get(existing.leaseId);
    if (lease && lease.createdBy !== actor)
      this.world.reportViolation("ownership", `${this.name}: ${actor} removed the key of ${lease.createdBy}`);
    this.#delete(key, "removed");
    return { deleted: "1" };
  }

  /** The process that created the lease owns it. */
  #holderFor(actor: string, lease: Lease): string {
    return actor === lease.createdBy ? nameOf(lease) : actor;
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

function noLease(): EtcdError {
  return new EtcdError("no-lease", "requested lease not found");
}
