import { numberOf, type ToxicKind } from "../toxic";

/** Delays the end of the stream by `delay` milliseconds. */
export const slowClose: ToxicKind = {
  type: "slow_close",
  defaults: { delay: 0 },
  async pipe(flow, attributes) {
    while ((await flow.next()) !== null) flow.forward();
    await flow.sleep(numberOf(attributes, "delay"));
    flow.end();
  },
};
