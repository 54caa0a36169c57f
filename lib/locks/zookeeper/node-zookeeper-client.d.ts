/** The part of node-zookeeper-client 1.1 that the library uses. The package has no types. */
declare module "node-zookeeper-client" {
  /** 64-bit numbers are 8-byte big-endian buffers. */
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
    /** Not part of the public API, but the only way to drop a connection that does not answer. */
    readonly connectionManager: {
      /** Destroying it with an error also clears its connect timer. */
      readonly socket?: { destroy(error?: Error): void };
      /** Sends the connect request on a new connection. */
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
