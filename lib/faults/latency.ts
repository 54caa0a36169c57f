import { networkFault, withToxics } from "./network-fault";

const LATENCY_MS = 50;
const JITTER_MS = 25;

/** A slow network: every reply of a server is late, so holds are longer and fewer buyers are served in time. */
export const latency = networkFault({
  id: "latency",
  does: `Delays every reply of the strategy's servers and of PostgreSQL by ${LATENCY_MS} +/- ${JITTER_MS} ms.`,
  proof: "the connections and bytes that the proxies delayed",
  durationMs: 1_500,
  delayMs: LATENCY_MS + JITTER_MS,
  apply: withToxics({
    type: "latency",
    stream: "downstream",
    attributes: { latency: LATENCY_MS, jitter: JITTER_MS },
  }),
});
