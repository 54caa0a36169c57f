import { type Clock, systemClock } from "../clock";
import { ClientConnection } from "./zk-connection";
import { DEFAULT_SESSION_TIMEOUT_MS, type ZkConnection, ZkError, type ZkSession } from "./zk-port";

export interface ZkSessionOptions {
  readonly clock?: Clock;
  /**
   * How long the server keeps the nodes of a client that it does not hear from: after a holder crash, the others wait
   * this long. The server limits it to between 2 and 20 of its ticks.
   */
  readonly sessionTimeoutMs?: number;
}

/**
 * A ZooKeeper client that outlives its sessions: connects on first use and opens a new session when the last one has
 * ended, which node-zookeeper-client does not do.
 * @param hosts `host:port[,host:port ...]`, with an optional `/path` as root
 */
export function openZkSession(hosts: string, options: ZkSessionOptions = {}): ZkSession {
  const { clock = systemClock, sessionTimeoutMs = DEFAULT_SESSION_TIMEOUT_MS } = options;
  let current: ClientConnection | null = null;
  let isClosed = false;

  async function connected(signal: AbortSignal): Promise<ZkConnection> {
    for (;;) {
      if (isClosed) throw new ZkError("refused", "the ZooKeeper session is closed");
      if (!current || current.ended.aborted) current = new ClientConnection({ hosts, clock, sessionTimeoutMs });
      if (current.isUp) return current;
      if (signal.aborted) throw new ZkError("unreachable", `no connection to ZooKeeper at ${hosts}`);
      await untilLinkChanges(current, signal);
    }
  }

  return {
    connected,
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await current?.close();
    },
  };
}

function untilLinkChanges(connection: ZkConnection, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stopListening();
      signal.removeEventListener("abort", done);
      connection.ended.removeEventListener("abort", done);
      resolve();
    };
    const stopListening = connection.onLinkChange(done);
    signal.addEventListener("abort", done, { once: true });
    connection.ended.addEventListener("abort", done, { once: true });
  });
}
