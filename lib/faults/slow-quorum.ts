import { quorumOf } from "../locks/redlock/quorum-attempt";
import { arrivals } from "./matrix-sale";
import { networkFault, withToxics } from "./network-fault";
import type { ServerProxy } from "./run-proxies";

/** A reply that takes longer than the lease is of no use: the lease has ended when it arrives. */
const LATENCY_PER_TTL = 1.1;
/** The fault lasts this much longer than its delay, so that late replies arrive while it lasts. */
const SERVED_MS = 1_000;

const latencyMs = (ttlMs: number) => Math.ceil(LATENCY_PER_TTL * ttlMs);

/** A majority of the Redlock servers answers too late. No client may rely on their votes, and each must take its requests back. */
export const slowQuorum = networkFault({
  id: "slow-quorum",
  does: "Delays every reply of a majority of the Redlock servers by more than the lease.",
  proof: "the connections and bytes that the proxies delayed",
  durationMs: SERVED_MS,
  defaultDurationMs: ({ ttlMs }) => latencyMs(ttlMs) + SERVED_MS,
  matrixSale: (traits) => arrivals(traits, { durationMs: 3_500 }),
  servers: ["redlock"],
  whyNotApplicable: ({ traits }) => (traits.needs.includes("redlock") ? null : "it does not use the Redlock servers"),
  expectationOf: () => ({
    effect: "safe",
    reason:
      "An attempt that a majority does not answer in time fails, and its requests are taken back on every server.",
  }),
  chosen: majorityOf,
  apply: (proxy, { ttlMs }) =>
    withToxics({
      type: "latency",
      stream: "downstream",
      attributes: { latency: latencyMs(ttlMs), jitter: 0 },
    })(proxy),
});

/** The proxies to the first servers of each node. */
function majorityOf(proxies: readonly ServerProxy[]): readonly ServerProxy[] {
  const isInMajority = ({ node, proxy }: ServerProxy) => {
    const ofNode = proxies.filter((each) => each.node === node);
    return ofNode.findIndex((each) => each.proxy === proxy) < quorumOf(ofNode.length);
  };
  return proxies.filter(isInMajority);
}
