/** Separate from the topologies, so that faults can name one without the code that starts it. */
export const TOPOLOGY_IDS = ["sentinel", "zk-3", "etcd-3", "pgbouncer", "pg-replica"] as const;
export type TopologyId = (typeof TOPOLOGY_IDS)[number];
