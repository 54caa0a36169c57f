import { numberOf, type ToxicKind } from "../toxic";

/** Delays all data by `latency` +/- `jitter` milliseconds. The order stays the same. */
export const latency: ToxicKind = {
  type: "latency",
  defaults: { latency: 0, jitter: 0 },
  // A delay must not limit the throughput: as much as Toxiproxy's 1,024 chunks can hold.
  bufferBytes: 32 * 1024 * 1024,
  async pipe(flow, attributes) {
    const jitterMs = numberOf(attributes, "jitter");
    for (let chunk = await flow.next(); chunk; chunk = await flow.next()) {
      const delayMs = numberOf(attributes, "latency") + jitterMs * (2 * flow.fraction() - 1);
      await flow.sleep(chunk.atMs + delayMs - flow.nowMs());
      flow.forward();
    }
    flow.end();
  },
};
