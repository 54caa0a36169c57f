import type { ZkConnection } from "./zk-port";

/**
 * After a reconnect the client may be served by an ensemble member that lags behind the one that applied a create, so a
 * read can miss the node. A write goes through the leader, and the member replies after it has applied every earlier
 * transaction. This is a write that changes nothing: ZooKeeper also commits a removal that fails. The client has no
 * `sync`.
 * @param absent a path at which no node can exist
 */
export async function catchUp(connection: ZkConnection, absent: string): Promise<void> {
  await connection.remove(absent);
}
