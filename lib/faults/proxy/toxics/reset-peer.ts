import { numberOf, type ToxicKind } from "../toxic";

/** Resets the connection `timeout` milliseconds after its next data. */
export const resetPeer: ToxicKind = {
  type: "reset_peer",
  defaults: { timeout: 0 },
  async pipe(flow, attributes) {
    await flow.next();
    await flow.sleep(numberOf(attributes, "timeout"));
    flow.reset();
  },
};
