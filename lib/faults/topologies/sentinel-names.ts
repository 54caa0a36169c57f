/** Separate from the topology, so that a fault can name its parts without the code that starts them. */

/** Name of the monitored master, as clients ask for it. */
export const SENTINEL_NAME = "lab";
export const MASTER = "sentinel-master";
/** The Sentinels promote the first of them that they can. */
export const REPLICAS = ["sentinel-replica-1", "sentinel-replica-2"] as const;
export const SENTINELS = ["sentinel-1", "sentinel-2", "sentinel-3"] as const;
/** Each replica receives the master's data through its link. */
export const REPLICA_LINKS: Readonly<Record<(typeof REPLICAS)[number], string>> = {
  "sentinel-replica-1": "sentinel-link-1",
  "sentinel-replica-2": "sentinel-link-2",
};
