import { loseOneReply, type ReplyToLose } from "./lost-reply";
import { networkFault } from "./network-fault";
import { PURCHASE_WRITE } from "./purchase-write";

/** PostgreSQL's wire format. A write outside a transaction commits itself. */
const COMMIT = /COMMIT\0/;
/** The end of each reply: the server is ready, and the connection is in no transaction. */
const READY_AND_IDLE = Buffer.from("Z\0\0\0\x05I", "latin1");

/**
 * The connection ends when PostgreSQL has committed and its reply is on the way. The client cannot tell whether the purchase took
 * effect.
 */
export const commitReplyLost = networkFault({
  id: "commit-reply-lost",
  does: "Loses PostgreSQL's reply to the commit of one purchase on each node, and resets that connection.",
  proof: "the connections whose reply to a commit reached a proxy, which discarded it and reset the connection",
  durationMs: 1_000,
  servers: ["postgres"],
  unseen: "no purchase was committed while it lasted",
  apply: async (proxy) => loseOneReply(proxy, replyToCommit()),
});

function replyToCommit(): ReplyToLose {
  const idle = new WeakSet<object>();
  return {
    isRequest(data, connection) {
      const text = data.toString("latin1");
      return COMMIT.test(text) || (idle.has(connection) && PURCHASE_WRITE.test(text));
    },
    isReply(data, connection) {
      if (data.subarray(-READY_AND_IDLE.length).equals(READY_AND_IDLE)) idle.add(connection);
      else idle.delete(connection);
      return true;
    },
  };
}
