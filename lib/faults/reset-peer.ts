import { networkFault, withToxics } from "./network-fault";

/** Connections break when the server has done the work and its reply is on the way: the client cannot tell. */
export const resetPeer = networkFault({
  id: "reset_peer",
  does: "Resets each connection to the strategy's servers and to PostgreSQL at its next reply, which is lost.",
  proof: "the connections that the proxies reset",
  durationMs: 300,
  apply: withToxics({ type: "reset_peer", stream: "downstream", attributes: { timeout: 0 } }),
});
