import { networkFault, withToxics } from "./network-fault";

/** A network that swallows packets: connections stay open and nothing arrives. */
export const timeout = networkFault({
  id: "timeout",
  does: "Swallows all data from and to the strategy's servers and PostgreSQL. The connections stay open until it ends.",
  proof: "the connections and bytes that the proxies swallowed",
  durationMs: 1_000,
  apply: withToxics(
    { type: "timeout", stream: "upstream", attributes: { timeout: 0 } },
    { type: "timeout", stream: "downstream", attributes: { timeout: 0 } },
  ),
});
