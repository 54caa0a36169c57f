import { networkFault } from "./network-fault";

/** The servers cannot be reached: open connections close, and new ones are refused. */
export const down = networkFault({
  id: "down",
  does: "Closes all connections to the strategy's servers and to PostgreSQL and refuses new ones until it ends.",
  proof: "the connections that the proxies closed",
  durationMs: 500,
  async apply(proxy) {
    const connections = await proxy.stop();
    return async () => {
      await proxy.start();
      return { connections, bytes: 0 };
    };
  },
});
