/** Apart from the registry, so that a browser can know them without the faults themselves. */
export const FAULT_IDS = ["pause-holder", "memcached-flush", "pg-disconnect"] as const;
export type FaultId = (typeof FAULT_IDS)[number];
