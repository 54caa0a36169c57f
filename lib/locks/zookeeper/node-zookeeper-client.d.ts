/** The part of node-zookeeper-client 1.1 the library uses; the package brings no types of its own. */
declare module "node-zookeeper-client" {
  export interface State {
    readonly name: string;
    readonly code: number;
  }
  export const State: Readonly<Record<"DISCONNECTED" | "SYNC_CONNECTED" | "EXPIRED" | "AUTH_FAILED", State>>;

  export interface Exception extends Error {
    readonly code: number;
  }
  export const Exception: Readonly<Record<"CONNECTION_LOSS" | "SESSION_EXPIRED" | "NO_NODE" | "NODE_EXISTS", number>>;

  export const CreateMode: Readonly<Record<"PERSISTENT" | "EPHEMERAL" | "EPHEMERAL_SEQUENTIAL", number>>;

  /** Longs arrive as 8-byte big-endian buffers. */
  export interface Stat {
    readonly czxid: Buffer;
    readonly ephemeralOwner: Buffer;
  }

  export type Done<T> = (error: Exception | null, value?: T) => void;

  export interface Client {
    connect(): void;
    close(): void;
    getState(): State;
    getSessionId(): Buffer;
    getSessionTimeout(): number;
    on(event: "state", listener: (state: State) => void): void;
    create(path: string, data: Buffer | null, mode: number, done: Done<string>): void;
    remove(path: string, done: Done<never>): void;
    exists(path: string, done: Done<Stat | null>): void;
    getChildren(path: string, done: Done<string[]>): void;
    getData(path: string, watcher: (() => void) | null, done: Done<Buffer>): void;
    /** Not part of the published API; the only way to leave a link that no longer answers, or was never answered. */
    readonly connectionManager: {
      /** Destroyed with an error, it takes its connect timer with it. */
      readonly socket?: { destroy(error?: Error): void };
      /** What greets the server on a new link. */
      onSocketConnected(): void;
    };
  }

  export interface ClientOptions {
    readonly sessionTimeout?: number;
    readonly spinDelay?: number;
    readonly retries?: number;
  }

  export function createClient(hosts: string, options?: ClientOptions): Client;
}
