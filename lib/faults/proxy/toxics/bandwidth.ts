import { numberOf, type ToxicKind } from "../toxic";

/** A larger chunk is passed on in pieces that take this long each. */
const PIECE_MS = 100;

/** Limits the throughput to `rate` KB per second. A rate of 0 lets nothing through. */
export const bandwidth: ToxicKind = {
  type: "bandwidth",
  defaults: { rate: 0 },
  async pipe(flow, attributes) {
    // 1 KB per second is one byte per millisecond.
    const bytesPerMs = numberOf(attributes, "rate");
    let freeAtMs = flow.nowMs();
    for (let chunk = await flow.next(); chunk; chunk = await flow.next()) {
      // Ends when the toxic changes or the connection ends.
      if (bytesPerMs <= 0) await flow.sleep(Infinity);
      const size = Math.min(chunk.data.length, bytesPerMs * PIECE_MS);
      freeAtMs = Math.max(freeAtMs, flow.nowMs()) + size / bytesPerMs;
      await flow.sleep(freeAtMs - flow.nowMs());
      flow.forward(size);
    }
    flow.end();
  },
};
