import { LockError } from "../errors";
import type { GrantedReply, HandleContext, LockHandle, TryLimits } from "../lease-backend";
import { isZkError, type ZkConnection, ZkError, type ZkSession } from "./zk-port";

/** What the ZooKeeper locks differ in: the nodes a contender makes, and whose end it waits for. */
export interface ZkLockNode {
  /** One try. `held` names the node whose next change is worth another try; null when that is now. */
  attempt(connection: ZkConnection, signal: AbortSignal): Promise<GrantedReply | ZkHeldReply>;
  /** Another session: what the last one made died with it. */
  startOver(): void;
  /** Removes what this claim has made, also when the reply that would have said so was lost. */
  remove(connection: ZkConnection): Promise<"released" | "not_held">;
}

export interface ZkHeldReply {
  readonly status: "held";
  readonly watchPath: string | null;
}

/** A watch has fired and woken a waiter: the cost of a release. */
export interface ZkWatchEvent {
  readonly strategyId: string;
  readonly resource: string;
  readonly path: string;
}

interface ZkLockHandleSetup {
  readonly strategyId: string;
  readonly session: ZkSession;
  readonly context: HandleContext;
  readonly claim: ZkLockNode;
  readonly onWatchEvent?: (event: ZkWatchEvent) => void;
}

/** One contender over one claim: follows the session through broken links, expiry and lost replies. */
export class ZkLockHandle implements LockHandle {
  readonly #parts: ZkLockHandleSetup;
  #connection: ZkConnection | null = null;
  #watchPath: string | null = null;
  #stopListening: () => void = () => {};

  constructor(parts: ZkLockHandleSetup) {
    this.#parts = parts;
  }

  get isDisconnected(): boolean {
    return this.#connection?.isUp === false;
  }

  /** A link that breaks in mid-try costs no place: once it is back, the node is where it was. */
  async tryAcquire({ signal }: TryLimits) {
    for (;;) {
      try {
        return await this.#attempt(await this.#parts.session.connected(signal), signal);
      } catch (error) {
        if (signal.aborted || !isZkError(error, "unreachable")) throw this.#asLockError(error);
      }
    }
  }

  waitForTurn(signal: AbortSignal): Promise<void> {
    const connection = this.#connection;
    const path = this.#watchPath;
    if (!connection || path === null || signal.aborted) return Promise.resolve();
    const { strategyId, context, onWatchEvent } = this.#parts;
    return new Promise((resolve) => {
      const done = () => {
        stopListening();
        signal.removeEventListener("abort", done);
        resolve();
      };
      const wake = () => {
        // A watch outlives the wait of whoever gave up: its event wakes nobody then.
        if (!signal.aborted) onWatchEvent?.({ strategyId, resource: context.resource, path });
        done();
      };
      const stopListening = connection.onLinkChange(done);
      signal.addEventListener("abort", done, { once: true });
      // A watch that could not be set wakes the waiter too: its next try finds out why.
      connection.watch(path, wake).then((exists) => exists || done(), done);
    });
  }

  async release() {
    this.#stopListening();
    const connection = this.#connection;
    if (!connection) return "released";
    if (connection.ended.aborted) return "not_held";
    try {
      return await this.#parts.claim.remove(connection);
    } catch (error) {
      if (isZkError(error, "session-ended")) return "not_held";
      if (isZkError(error, "unreachable")) this.#removeWhenUp(connection);
      throw this.#asLockError(error);
    }
  }

  async #attempt(connection: ZkConnection, signal: AbortSignal) {
    if (connection !== this.#connection) this.#parts.claim.startOver();
    this.#connection = connection;
    const reply = await this.#parts.claim.attempt(connection, signal);
    if (reply.status === "granted") return this.#grant(connection, reply);
    this.#watchPath = reply.watchPath;
    return { status: "held" } as const;
  }

  #grant(connection: ZkConnection, reply: GrantedReply): GrantedReply {
    if (!connection.isUp) throw new ZkError("unreachable", "the connection was lost as the lock was granted");
    const reason = new Error("the connection to ZooKeeper is lost, and with it the certainty of the hold");
    this.#stopListening = connection.onLinkChange(() => this.#parts.context.declareLost(reason));
    return reply;
  }

  /** An orphan would block the others until the session ends, which with this process alive is never. */
  #removeWhenUp(connection: ZkConnection): void {
    const stopListening = connection.onLinkChange(async (link) => {
      if (link === "down") return;
      const [removal] = await Promise.allSettled([this.#parts.claim.remove(connection)]);
      if (removal.status === "fulfilled" || !isZkError(removal.reason, "unreachable")) stopListening();
    });
  }

  #asLockError(error: unknown): unknown {
    if (!(error instanceof Error) || error.name !== "ZkError") return error;
    const isLost = isZkError(error, "unreachable", "session-ended");
    const { strategyId, context } = this.#parts;
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

/** Makes the node and whatever is missing above it. */
export async function createFolder(connection: ZkConnection, folder: string): Promise<void> {
  const parts = folder.split("/").slice(1);
  for (let depth = 1; depth <= parts.length; depth++) {
    try {
      await connection.create(`/${parts.slice(0, depth).join("/")}`, "persistent");
    } catch (error) {
      if (!isZkError(error, "node-exists")) throw error;
    }
  }
}
