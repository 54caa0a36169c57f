/** Separate from the topology, so that a fault can name its parts without the code that starts them. */
export const ETCD_MEMBERS = ["etcd-1", "etcd-2", "etcd-3"] as const;
export type EtcdMember = (typeof ETCD_MEMBERS)[number];
