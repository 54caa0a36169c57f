import type { GrantedReply, HandleContext } from "../lease-backend";
import { uuidFrom } from "../random";
import { catchUp } from "./catch-up";
import { positionOf, queueNodePrefix } from "./lock-queue";
import { createFolder, type ZkHeldReply, type ZkLockNode } from "./zk-lock-handle";
import { isZkError, type ZkConnection, ZkError } from "./zk-port";

/** none -> requested (reply pending) -> queued -> none */
type NodeState = { readonly state: "none" | "requested" } | { readonly state: "queued"; readonly name: string };

export interface QueueNodeOptions {
  readonly root: string;
  /** Each grant carries the node's czxid as fencing token. */
  readonly isFenced: boolean;
}

/** A node in the queue under `<root>/<resource>`. The lowest holds the lock; each waiter watches the node before it. */
export class QueueNode implements ZkLockNode {
  readonly #folder: string;
  readonly #prefix: string;
  readonly #isFenced: boolean;
  #node: NodeState = { state: "none" };
  #token: bigint | null = null;

  constructor(context: HandleContext, { root, isFenced }: QueueNodeOptions) {
    this.#folder = `${root}/${context.resource}`;
    this.#prefix = queueNodePrefix(uuidFrom(context.random));
    this.#isFenced = isFenced;
  }

  async attempt(connection: ZkConnection, signal: AbortSignal): Promise<GrantedReply | ZkHeldReply> {
    const own = await this.#ensureCreated(connection, signal);
    const [children, token] = await Promise.all([connection.children(this.#folder), this.#readToken(connection, own)]);
    const { isQueued, predecessor } = positionOf(own, children);
    if (!isQueued || token === "gone") {
      // An operator deleted the node. The next try creates a new one.
      this.reset();
      return { status: "held", watchPath: null };
    }
    if (predecessor !== null) return { status: "held", watchPath: `${this.#folder}/${predecessor}` };
    return token === null ? { status: "granted" } : { status: "granted", fencingToken: token };
  }

  reset(): void {
    this.#node = { state: "none" };
    this.#token = null;
  }

  async remove(connection: ZkConnection): Promise<"released" | "not_held"> {
    if (this.#node.state === "none") return "released";
    const name = this.#node.state === "queued" ? this.#node.name : await this.#findCreated(connection);
    const isRemoved = name !== undefined && (await connection.remove(`${this.#folder}/${name}`));
    this.reset();
    return isRemoved ? "released" : "not_held";
  }

  /**
   * Read once, together with the first check of the queue, so it does not delay a hand-off. @returns null without
   * fencing
   */
  async #readToken(connection: ZkConnection, own: string): Promise<bigint | "gone" | null> {
    if (!this.#isFenced || this.#token !== null) return this.#token;
    const stat = await connection.stat(`${this.#folder}/${own}`);
    this.#token = stat?.czxid ?? null;
    return this.#token ?? "gone";
  }

  /** @returns the name of our node: the known one, one whose create reply was lost, or a new one */
  async #ensureCreated(connection: ZkConnection, signal: AbortSignal): Promise<string> {
    if (this.#node.state === "queued") return this.#node.name;
    const found = this.#node.state === "requested" ? await this.#findCreated(connection) : undefined;
    const name = found ?? (await this.#enqueue(connection, signal));
    this.#node = { state: "queued", name };
    return name;
  }

  async #enqueue(connection: ZkConnection, signal: AbortSignal): Promise<string> {
    for (;;) {
      // After the runner gives up a try, its cleanup may already have run. A node created now would stay in the queue.
      if (signal.aborted) throw new ZkError("unreachable", "the runner gave up this try");
      try {
        this.#node = { state: "requested" };
        const path = await connection.create(`${this.#folder}/${this.#prefix}`, "ephemeral-sequential");
        return path.slice(path.lastIndexOf("/") + 1);
      } catch (error) {
        if (!isZkError(error, "no-node")) throw error;
        this.reset();
        await createFolder(connection, this.#folder);
      }
    }
  }

  /** Finds a node whose create reply was lost. After catching up, the node is listed or was never created. */
  async #findCreated(connection: ZkConnection): Promise<string | undefined> {
    // Without its sequence number, the name never exists.
    await catchUp(connection, `${this.#folder}/${this.#prefix}`);
    try {
      const children = await connection.children(this.#folder);
      return children.find((child) => child.startsWith(this.#prefix));
    } catch (error) {
      if (isZkError(error, "no-node")) return undefined;
      throw error;
    }
  }
}
