import type { LeaseBackend } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { EtcdLockHandle, EtcdLockShared } from "./etcd-lock-handle";
import type { EtcdCommands } from "./etcd-port";

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

export interface EtcdLockOptions extends RunnerOptions {
  /** Prefix of every lock. `etcdctl lock <root>/<resource>` stands in the same queue. */
  readonly root: string;
}

/**
 * etcd's own lock recipe: a lease per contender, a key `<root>/<resource>/<lease in hex>` that lives as long as the lease,
 * and a queue ordered by create revision. The lowest holds; each waiter watches the deletion of the key before it.
 *
 * Guarantees one holder at a time, first come first served in the queue (a process stands there with 32 callers at most;
 * the others wait for one of these places in the order they came), one waiter woken per release, and no key that outlives its
 * lease: a holder's crash costs the others one TTL and the second the server may take to notice. A waiter keeps its own
 * lease alive and looks at the queue once in every length of it, so a lost watch costs one lease length, never a hang.
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
  const parts = new EtcdLockShared({ etcd, root, strategyId: etcdLockTraits.id });
  const backend: LeaseBackend = {
    traits: etcdLockTraits,
    leaseKind: "ttl",
    createHandle: (context) => new EtcdLockHandle(parts, context),
  };
  return new LeaseRunner(backend, dependencies, runnerOptions);
}

/** Registration, listed in all-locks.ts. */
export const etcdLock: LockEntry = {
  traits: etcdLockTraits,
  create: (dependencies) => createEtcdLock(dependencies.etcd(), dependencies),
};
