/** Separate from the topology, so that a fault can name its parts without the code that starts them. */

export const PG_PRIMARY = "pg-primary";
export const PG_REPLICA = "pg-replica";
/** The replica receives the primary's write-ahead log through this link. */
export const PG_REPLICA_LINK = "pg-replica-link";
/** Clients connect through this link, which leads to the primary until it is redirected. */
export const PG_CLIENT_LINK = "pg-client-link";
