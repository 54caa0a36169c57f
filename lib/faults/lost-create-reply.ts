import { loseOneReply, type ReplyToLose } from "./lost-reply";
import { networkFault } from "./network-fault";

/** ZooKeeper's wire format: each packet starts with its length; a request then has its number and its type. */
const LENGTH_BYTES = 4;
const REQUEST = { number: 4, type: 8 };
const REPLY_NUMBER = 4;
const CREATE = 1;
const LOCK_NODE = /_c_[0-9a-f-]+-lock-|\/exclusive-locks\//;

/**
 * The connection ends when ZooKeeper has created a lock's node and its reply is on the way. The client cannot tell whether the node
 * exists. A second node in the queue would block every buyer behind it.
 */
export const lostCreateReply = networkFault({
  id: "lost-create-reply",
  does: "Loses ZooKeeper's reply to the creation of a lock's node once on each node, and resets that connection.",
  proof: "the connections whose reply to a create reached a proxy, which discarded it and reset the connection",
  durationMs: 1_000,
  servers: ["zookeeper"],
  whyNotApplicable: ({ traits }) =>
    traits.needs.includes("zookeeper") ? null : "it creates no node of a lock in ZooKeeper",
  expectationOf: () => ({
    effect: "safe",
    reason:
      "After the reconnect, the client finds the node that it created by its name or its data, so no orphan stays.",
  }),
  unseen: "no node of a lock was created while it lasted",
  apply: async (proxy) => loseOneReply(proxy, replyToCreate()),
});

function replyToCreate(): ReplyToLose {
  const creates = new WeakMap<object, number>();
  return {
    isRequest(data, connection) {
      const create = packetsIn(data).find(
        (packet) => packet.readInt32BE(REQUEST.type) === CREATE && LOCK_NODE.test(packet.toString("latin1")),
      );
      if (create) creates.set(connection, create.readInt32BE(REQUEST.number));
      return create !== undefined;
    },
    isReply(data, connection) {
      const number = creates.get(connection);
      return packetsIn(data).some((packet) => packet.readInt32BE(REPLY_NUMBER) === number);
    },
  };
}

/** The whole packets of a chunk, which starts with a packet: clients and servers write them as a whole. */
function packetsIn(data: Buffer): Buffer[] {
  const packets: Buffer[] = [];
  for (let at = 0; at + REQUEST.type + LENGTH_BYTES <= data.length; ) {
    const end = at + LENGTH_BYTES + data.readUInt32BE(at);
    packets.push(data.subarray(at, end));
    at = end;
  }
  return packets;
}
