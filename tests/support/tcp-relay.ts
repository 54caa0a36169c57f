import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";

export interface TcpRelay {
  readonly port: number;
  /** Number of connections accepted so far, and of those that are open. */
  readonly links: { readonly taken: number; readonly open: number };
  /** Chunks of replies forwarded so far. */
  readonly forwardedReplies: number;
  /** Chunks of data dropped since the last `heal`. */
  readonly swallowedChunks: number;
  /** Drops all data in both directions and keeps connections open: Toxiproxy's `timeout` on both streams. */
  freeze(): void;
  /** Drops requests and forwards replies: Toxiproxy's `timeout` upstream. */
  swallowRequests(): void;
  /** Forwards requests and drops replies: Toxiproxy's `timeout` downstream. */
  swallowReplies(): void;
  /** Forwards requests and delays replies until `passReplies`. */
  holdReplies(): void;
  passReplies(): void;
  /** Closes every connection and forwards all data on new ones. */
  heal(): void;
  /** Closes every connection and rejects new ones until `listen`. */
  refuse(): Promise<void>;
  listen(): Promise<void>;
  /** Closes every connection and rejects new ones permanently. */
  close(): Promise<void>;
}

/** Forwards bytes to a real server. A test can drop, delay or cut them. */
export async function startTcpRelay(target: { readonly host: string; readonly port: number }): Promise<TcpRelay> {
  const sockets = new Set<Socket>();
  let swallows = { requests: false, replies: false };
  let held: (() => void)[] | null = null;
  const cut = () => {
    held = null;
    for (const socket of sockets) socket.destroy();
  };
  let taken = 0;
  let swallowedChunks = 0;
  let forwardedReplies = 0;
  const server: Server = createServer((client) => {
    taken += 1;
    const upstream = connect(target);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
    client.on("data", (chunk) => {
      if (swallows.requests) swallowedChunks += 1;
      else upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      if (swallows.replies) {
        swallowedChunks += 1;
        return;
      }
      forwardedReplies += 1;
      if (held) held.push(() => client.write(chunk));
      else client.write(chunk);
    });
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const refuse = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    cut();
    await closed;
  };
  return {
    port,
    get links() {
      return { taken, open: sockets.size / 2 };
    },
    get forwardedReplies() {
      return forwardedReplies;
    },
    get swallowedChunks() {
      return swallowedChunks;
    },
    freeze: () => {
      swallows = { requests: true, replies: true };
    },
    swallowRequests: () => {
      swallows = { requests: true, replies: false };
    },
    swallowReplies: () => {
      swallows = { requests: false, replies: true };
    },
    holdReplies: () => {
      held ??= [];
    },
    passReplies: () => {
      for (const pass of held ?? []) pass();
      held = null;
    },
    heal: () => {
      swallowedChunks = 0;
      swallows = { requests: false, replies: false };
      cut();
    },
    refuse,
    listen: () => listen(port),
    close: refuse,
  };
}
