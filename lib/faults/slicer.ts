import { networkFault, withToxics } from "./network-fault";

const SIZE = 16;
const VARIATION = 8;
const DELAY_MICROS = 100;

/** Messages arrive in small pieces: a client that expects one message per read fails. */
export const slicer = networkFault({
  id: "slicer",
  does: `Cuts all data from and to the strategy's servers and PostgreSQL into pieces of ${SIZE} +/- ${VARIATION} bytes.`,
  proof: "the connections and bytes that the proxies cut into pieces",
  durationMs: 1_500,
  delayMs: 75,
  apply: withToxics(
    ...(["upstream", "downstream"] as const).map((stream) => ({
      type: "slicer",
      stream,
      attributes: { average_size: SIZE, size_variation: VARIATION, delay: DELAY_MICROS },
    })),
  ),
});
