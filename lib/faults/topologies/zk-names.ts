/** Separate from the topology, so that a fault can name its parts without the code that starts them. */

export const ZK_MEMBERS = ["zk-1", "zk-2", "zk-3"] as const;
export type ZkMember = (typeof ZK_MEMBERS)[number];

/** The member that the links can cut off from the others. */
export const ZK_ISOLATED: ZkMember = "zk-1";
/**
 * All connections between `zk-1` and the others. A follower opens the one to its leader. For an election, only a member with a
 * higher number keeps the connection that it opens, so those of `zk-1` need no link.
 */
export const ZK_LINKS = ["zk-1-quorum-link", "zk-1-election-link", "zk-2-quorum-link", "zk-3-quorum-link"] as const;
