import { LockError } from "../errors";
import type { GrantedReply, HandleContext, LockHandle, TryLimits } from "../lease-backend";
import { isZkError, type ZkConnection, ZkError, type ZkSession } from "./zk-port";

/** The node of one handle. The ZooKeeper locks differ in the nodes they create and the nodes they watch. */
export interface ZkLockNode {
  /** One try. `held` returns the node to watch before the next try; null means try again at once. */
  attempt(connection: ZkConnection, signal: AbortSignal): Promise<GrantedReply | ZkHeldReply>;
  /** Called for a new session: the nodes of the old one no longer exist. */
  reset(): void;
  /** Removes the node, even if the reply to its create was lost. */
  remove(connection: ZkConnection): Promise<"released" | "not_held">;
}

export interface ZkHeldReply {
  readonly status: "held";
  readonly watchPath: string | null;
}

/** A watch fired and woke a waiter. */
export interface ZkWatchEvent {
  readonly strategyId: string;
  readonly resource: string;
  readonly path: string;
}

interface ZkLockHandleSetup {
  readonly strategyId: string;
  readonly session: ZkSession;
  readonly context: HandleContext;
  readonly node: ZkLockNode;
  readonly onWatchEvent?: (event: ZkWatchEvent) => void;
}

/** One handle with one node. Handles broken connections, session expiry and lost replies. */
export class ZkLockHandle implements LockHandle {
  readonly #setup: ZkLockHandleSetup;
  #connection: ZkConnection | null = null;
  #watchPath: string | null = null;
  #stopListening: () => void = () => {};

  constructor(setup: ZkLockHandleSetup) {
    this.#setup = setup;
  }

  get isDisconnected(): boolean {
    return this.#connection?.isUp === false;
  }

  /** Retries when the connection breaks during a try: after the reconnect, the node still has its queue position. */
  async tryAcquire({ signal }: TryLimits) {
    for (;;) {
      try {
        return await this.#attempt(await this.#setup.session.connected(signal), signal);
      } catch (error) {
        if (signal.aborted || !isZkError(error, "unreachable")) throw this.#asLockError(error);
      }
    }
  }

  waitForTurn(signal: AbortSignal): Promise<void> {
    const connection = this.#connection;
    const path = this.#watchPath;
    if (!connection || path === null || signal.aborted) return Promise.resolve();
    const { strategyId, context, onWatchEvent } = this.#setup;
    return new Promise((resolve) => {
      const done = () => {
        stopListening();
        signal.removeEventListener("abort", done);
        resolve();
      };
      const wake = () => {
        // A watch outlives a wait that was given up. Its event then wakes no waiter.
        if (!signal.aborted) onWatchEvent?.({ strategyId, resource: context.resource, path });
        done();
      };
      const stopListening = connection.onLinkChange(done);
      signal.addEventListener("abort", done, { once: true });
      // If the watch cannot be set, the waiter also wakes: its next try reports the error.
      connection.watch(path, wake).then((exists) => exists || done(), done);
    });
  }

  async release() {
    this.#stopListening();
    const connection = this.#connection;
    if (!connection) return "released";
    if (connection.ended.aborted) return "not_held";
    try {
      return await this.#setup.node.remove(connection);
    } catch (error) {
      if (isZkError(error, "session-ended")) return "not_held";
      if (isZkError(error, "unreachable")) this.#removeWhenUp(connection);
      throw this.#asLockError(error);
    }
  }

  async #attempt(connection: ZkConnection, signal: AbortSignal) {
    if (connection !== this.#connection) this.#setup.node.reset();
    this.#connection = connection;
    const reply = await this.#setup.node.attempt(connection, signal);
    if (reply.status === "granted") return this.#grant(connection, reply);
    this.#watchPath = reply.watchPath;
    return { status: "held" } as const;
  }

  #grant(connection: ZkConnection, reply: GrantedReply): GrantedReply {
    if (!connection.isUp) throw new ZkError("unreachable", "the connection was lost while the lock was granted");
    const reason = new Error("the connection to ZooKeeper was lost, so the holder can no longer rely on the lock");
    this.#stopListening = connection.onLinkChange(() => this.#setup.context.declareLost(reason));
    return reply;
  }

  /** An orphaned node would block the others until the session ends, which this live process keeps open. */
  #removeWhenUp(connection: ZkConnection): void {
    const stopListening = connection.onLinkChange(async (link) => {
      if (link === "down") return;
      const [removal] = await Promise.allSettled([this.#setup.node.remove(connection)]);
      if (removal.status === "fulfilled" || !isZkError(removal.reason, "unreachable")) stopListening();
    });
  }

  #asLockError(error: unknown): unknown {
    if (!(error instanceof Error) || error.name !== "ZkError") return error;
    const isLost = isZkError(error, "unreachable", "session-ended");
    const { strategyId, context } = this.#setup;
    return new LockError({
      code: isLost ? "backend_unavailable" : "config_invalid",
      strategyId,
      resource: context.resource,
      message: error.message,
      isDefinite: true,
      cause: error,
    });
  }
}

/** Creates the node and its missing ancestors. */
export async function createFolder(connection: ZkConnection, folder: string): Promise<void> {
  const setup = folder.split("/").slice(1);
  for (let depth = 1; depth <= setup.length; depth++) {
    try {
      await connection.create(`/${setup.slice(0, depth).join("/")}`, "persistent");
    } catch (error) {
      if (!isZkError(error, "node-exists")) throw error;
    }
  }
}
