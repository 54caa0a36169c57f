import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";

export interface TcpRelay {
  readonly port: number;
  /** From now on nothing passes either way, and nothing is closed: a black hole. */
  freeze(): void;
  /** Requests still pass; their replies do not. */
  swallowReplies(): void;
  /** Cuts every connection; new ones pass everything again. */
  heal(): void;
  /** Cuts every connection and accepts no more. */
  close(): Promise<void>;
}

/** Passes bytes on to a real server until it is told to swallow them. */
export async function startTcpRelay(target: { readonly host: string; readonly port: number }): Promise<TcpRelay> {
  const sockets = new Set<Socket>();
  let swallows = { requests: false, replies: false };
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const server: Server = createServer((client) => {
    const upstream = connect(target);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
    client.on("data", (chunk) => swallows.requests || upstream.write(chunk));
    upstream.on("data", (chunk) => swallows.replies || client.write(chunk));
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    freeze: () => {
      swallows = { requests: true, replies: true };
    },
    swallowReplies: () => {
      swallows = { requests: false, replies: true };
    },
    heal: () => {
      swallows = { requests: false, replies: false };
      cut();
    },
    close: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
