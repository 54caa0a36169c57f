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
    "Keys attached to leases, ordered by create revision. The lowest holds the lock; each waiter watches the key before it.",
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
  /** Key prefix of all locks. `etcdctl lock <root>/<resource>` joins the same queue. */
  readonly root: string;
}

/** Key prefix of all locks unless an option changes it. */
export const ETCD_ROOT = "locks";

/**
 * etcd's lock recipe.
 *
 * Mechanism: each caller has a lease and a key `<root>/<resource>/<lease in hex>` that lives as long as the lease.
 * Create revisions order the queue. The lowest key holds the lock; each waiter watches the deletion of the key before
 * it. A waiter keeps its lease alive and checks its position once per lease length, so a lost watch delays it by at
 * most one lease length.
 *
 * Guarantees one holder at a time, in queue order, with one waiter woken per release. A process queues at most 32
 * callers per resource in etcd; the others wait in the process, in arrival order. After a holder crash, waiters are
 * blocked for at most one TTL plus the second that the server may take to expire it. A restarted server keeps the queue
 * and the leases.
 * Broken by: a server that restarts without its data forgets both, and its revisions start again. A holder paused past
 * the TTL can overlap with the next one; the resource rejects its write if it checks the fencing token.
 * Fencing token: the create revision of the holder's key, which rises with every change of the cluster.
 * Clock: the server's clock ends the lease. Its length is in whole seconds, rounded up, and at least the server's
 * minimum (two seconds by default). The holder trusts its own monotonic clock, minus drift, counted from before the
 * grant or the last keep-alive was sent. Times in milliseconds.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`
 * @see https://github.com/etcd-io/etcd/blob/main/client/v3/concurrency/mutex.go
 */
export function createEtcdLock(
  etcd: EtcdCommands,
  dependencies: RunnerDependencies,
  options: Partial<EtcdLockOptions> = {},
): LockStrategy {
  const { root = ETCD_ROOT, ...runnerOptions } = options;
  const shared = new EtcdLockShared({ etcd, root, strategyId: etcdLockTraits.id });
  const backend: LeaseBackend = {
    traits: etcdLockTraits,
    leaseKind: "ttl",
    createHandle: (context) => new EtcdLockHandle(shared, context),
  };
  return new LeaseRunner(backend, dependencies, runnerOptions);
}

/** Registration, listed in all-locks.ts. */
export const etcdLock: LockEntry = {
  traits: etcdLockTraits,
  create: (dependencies) => createEtcdLock(dependencies.etcd(), dependencies),
};
