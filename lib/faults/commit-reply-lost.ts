import { networkFault } from "./network-fault";
import type { TcpProxy } from "./proxy/tcp-proxy";
import type { ToxicKind } from "./proxy/toxic";

/** PostgreSQL's wire format. A write outside a transaction commits itself; its message names the prepared statement. */
const COMMIT = /COMMIT\0/;
const WRITE = /(?:product|coupon)_(?:write|take)[A-Z]/;
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
  apply: async (proxy) => loseOneReply(proxy),
});

function loseOneReply(proxy: TcpProxy) {
  const lost = { connections: 0, bytes: 0 };
  const idle = new WeakSet<object>();
  /** The connection whose next reply is discarded. */
  let chosen: object | null = null;

  const requests: ToxicKind = {
    type: "commit_watch",
    defaults: {},
    async pipe(flow) {
      for (let chunk = await flow.next(); chunk; chunk = await flow.next()) {
        const text = chunk.data.toString("latin1");
        const commits = COMMIT.test(text) || (idle.has(flow.connection) && WRITE.test(text));
        if (commits) chosen ??= flow.connection;
        flow.forward();
      }
      flow.end();
    },
  };

  const replies: ToxicKind = {
    type: "commit_reply_loss",
    defaults: {},
    async pipe(flow) {
      for (let chunk = await flow.next(); chunk; chunk = await flow.next()) {
        if (chosen === flow.connection) {
          Object.assign(lost, { connections: 1, bytes: chunk.data.length });
          return flow.reset();
        }
        if (chunk.data.subarray(-READY_AND_IDLE.length).equals(READY_AND_IDLE)) idle.add(flow.connection);
        else idle.delete(flow.connection);
        flow.forward();
      }
      flow.end();
    },
  };

  const settings = { toxicity: 1, attributes: {} };
  const added = [
    proxy.addToxic({ ...settings, name: requests.type, kind: requests as ToxicKind<unknown>, stream: "upstream" }),
    proxy.addToxic({ ...settings, name: replies.type, kind: replies as ToxicKind<unknown>, stream: "downstream" }),
  ];
  return async () => {
    for (const toxic of added) proxy.removeToxic(toxic);
    return lost;
  };
}
