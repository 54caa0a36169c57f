import { numberOf, type ToxicKind } from "../toxic";

interface Sent {
  bytes: number;
}

/** Closes the connection after it passed on `bytes` bytes. Counts from when the toxic was added or the connection opened. */
export const limitData: ToxicKind<Sent> = {
  type: "limit_data",
  defaults: { bytes: 0 },
  newState: () => ({ bytes: 0 }),
  async pipe(flow, attributes, sent) {
    const limit = numberOf(attributes, "bytes");
    for (let chunk = await flow.next(); chunk; chunk = await flow.next()) {
      const size = Math.min(chunk.data.length, Math.max(0, limit - sent.bytes));
      if (size > 0) flow.forward(size);
      sent.bytes += size;
      if (sent.bytes >= limit) return flow.close();
    }
    flow.end();
  },
};
