import { crowd } from "./matrix-sale";
import { networkFault } from "./network-fault";
import type { TcpProxy } from "./proxy/tcp-proxy";
import type { ToxicKind } from "./proxy/toxic";

/** Redis's wire format: a message of a channel, as a push (RESP3) or as an array (RESP2). */
const MESSAGE = /[>*]3\r\n\$7\r\nmessage\r\n/;

/** Each message that tells waiters of a release is lost, together with the connection that should have received it. */
export const lostPublish = networkFault({
  id: "lost-publish",
  does: "Loses each message that Redis publishes to the run's nodes when a lock is released, and resets the subscriber's connection.",
  proof: "the subscribers' connections whose message reached a proxy, which discarded it and reset the connection",
  durationMs: 1_500,
  servers: ["redis"],
  whyNotApplicable: ({ traits }) =>
    traits.family === "redis" && traits.waiting === "notify" ? null : "its waiters wait for no message of Redis",
  expectationOf: () => ({
    effect: "safe",
    reason: "A waiter tries again when it loses its subscription, and at the latest when the lease has ended.",
  }),
  // Only waiters subscribe.
  matrixSale: (traits) => crowd(traits, { holdMs: 20 }),
  unseen: "no message was published to a waiter while it lasted",
  apply: async (proxy) => loseMessages(proxy),
});

function loseMessages(proxy: TcpProxy) {
  const lost = { connections: 0, bytes: 0 };
  const kind: ToxicKind = {
    type: "message_loss",
    defaults: {},
    async pipe(flow) {
      for (let chunk = await flow.next(); chunk; chunk = await flow.next()) {
        if (MESSAGE.test(chunk.data.toString("latin1"))) {
          lost.connections += 1;
          lost.bytes += chunk.data.length;
          return flow.reset();
        }
        flow.forward();
      }
      flow.end();
    },
  };
  const toxic = proxy.addToxic({
    name: kind.type,
    kind: kind as ToxicKind<unknown>,
    stream: "downstream",
    toxicity: 1,
    attributes: {},
  });
  return async () => {
    proxy.removeToxic(toxic);
    return lost;
  };
}
