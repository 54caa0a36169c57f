/** Separate from the topology, so that a fault can name its parts without the code that starts them. */

/** Name of the monitored master, as clients ask for it. */
export const SENTINEL_NAME = "lab";
export const MASTER = "sentinel-master";
export const REPLICA = "sentinel-replica";
export const SENTINELS = ["sentinel-1", "sentinel-2", "sentinel-3"] as const;
/** The replica receives the master's data through this link. */
export const REPLICA_LINK = "sentinel-link";
