import { numberOf, type ToxicKind } from "../toxic";

/** Discards all data, and closes the connection after `timeout` milliseconds without data. 0: it stays open. */
export const timeout: ToxicKind = {
  type: "timeout",
  defaults: { timeout: 0 },
  closesOnRemoval: true,
  async pipe(flow, attributes) {
    const limitMs = numberOf(attributes, "timeout") || Infinity;
    for (;;) {
      const chunk = await flow.nextWithin(limitMs);
      if (chunk === "late" || chunk === null) return flow.close();
      flow.drop();
    }
  },
};
