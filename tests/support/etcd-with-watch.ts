import type { EtcdCommands } from "../../lib/locks/etcd/etcd-port";

/** The same etcd client with a replaced watch. */
export function withWatch(etcd: EtcdCommands, untilDeleted: EtcdCommands["untilDeleted"]): EtcdCommands {
  return {
    grantLease: (lease) => etcd.grantLease(lease),
    keepLeaseAlive: (leaseId) => etcd.keepLeaseAlive(leaseId),
    revokeLease: (leaseId) => etcd.revokeLease(leaseId),
    enqueue: (place) => etcd.enqueue(place),
    findPosition: (queued) => etcd.findPosition(queued),
    removeKey: (key) => etcd.removeKey(key),
    untilDeleted,
    [Symbol.asyncDispose]: () => etcd[Symbol.asyncDispose](),
  };
}
