import type { NetworkEffect } from "./network-fault";
import type { TcpProxy } from "./proxy/tcp-proxy";
import type { ToxicKind } from "./proxy/toxic";

/** What a fault recognizes in the data of a connection. It sees every chunk. */
export interface ReplyToLose {
  /** True if the data contains the request whose reply is lost. */
  isRequest(data: Buffer, connection: object): boolean;
  /** True if the data contains the reply to that request. */
  isReply(data: Buffer, connection: object): boolean;
}

/** Discards one reply on a proxy and resets its connection. @returns how to end it, and what it did */
export function loseOneReply(proxy: TcpProxy, { isRequest, isReply }: ReplyToLose): () => Promise<NetworkEffect> {
  const lost = { connections: 0, bytes: 0 };
  /** The connection whose reply is discarded. */
  let chosen: object | null = null;

  const requests: ToxicKind = {
    type: "request_watch",
    defaults: {},
    async pipe(flow) {
      for (let chunk = await flow.next(); chunk; chunk = await flow.next()) {
        if (chosen === null && isRequest(chunk.data, flow.connection)) chosen = flow.connection;
        flow.forward();
      }
      flow.end();
    },
  };

  const replies: ToxicKind = {
    type: "reply_loss",
    defaults: {},
    async pipe(flow) {
      for (let chunk = await flow.next(); chunk; chunk = await flow.next()) {
        if (isReply(chunk.data, flow.connection) && chosen === flow.connection && lost.connections === 0) {
          Object.assign(lost, { connections: 1, bytes: chunk.data.length });
          return flow.reset();
        }
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
