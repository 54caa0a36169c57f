import { serverKind } from "../../servers/all-servers";
import { endpointsOf } from "../../servers/server-kind";
import { addressOf, type LockServers } from "./lock-clients";
import { startTcpRelay, type TcpRelay } from "./tcp-relay";

/** A server kind of the lab with a relay in front of each of its servers. */
export interface RelayedServers extends AsyncDisposable {
  /** The relays' addresses. */
  readonly servers: Partial<LockServers>;
  readonly relays: readonly TcpRelay[];
}

export async function relayService(id: string): Promise<RelayedServers> {
  const kind = serverKind(id);
  const address = addressOf(id);
  const relays = await Promise.all(endpointsOf(kind, address).map(startTcpRelay));
  const close = async () => {
    await Promise.all(relays.map((relay) => relay.close()));
  };
  const endpoints = relays.map(({ port }) => ({ host: "127.0.0.1", port }));
  return { servers: { [id]: kind.addressAt(endpoints, address) }, relays, [Symbol.asyncDispose]: close };
}
