import { networkFault, withToxics } from "./network-fault";

/** KB per second: a statement of 500 bytes takes 50 ms. */
const RATE = 10;

/** A slow link: large messages hold up small ones on the same connection. */
export const bandwidth = networkFault({
  id: "bandwidth",
  does: `Limits each connection to the strategy's servers and to PostgreSQL to ${RATE} KB per second in each direction.`,
  proof: "the connections and bytes that the proxies slowed down",
  durationMs: 1_500,
  delayMs: 100,
  apply: withToxics(
    { type: "bandwidth", stream: "upstream", attributes: { rate: RATE } },
    { type: "bandwidth", stream: "downstream", attributes: { rate: RATE } },
  ),
});
