import { etcd3 } from "./etcd-3";
import type { TopologyId } from "./ids";
import { pgReplica } from "./pg-replica";
import { pgbouncer } from "./pgbouncer";
import { sentinel } from "./sentinel";
import type { Topology } from "./topology";
import { zk3 } from "./zk-3";

/** Every topology, with the code that starts it. Only the lab's supervisor and tests import this. */
export const topologiesById: Readonly<Record<TopologyId, Topology>> = {
  sentinel,
  "zk-3": zk3,
  "etcd-3": etcd3,
  pgbouncer,
  "pg-replica": pgReplica,
};
