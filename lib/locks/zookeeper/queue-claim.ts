import type { GrantedReply, HandleContext } from "../lease-backend";
import { uuidFrom } from "../random";
import { positionOf, queueNodePrefix } from "./lock-queue";
import { createFolder, type ZkHeldReply, type ZkLockNode } from "./zk-lock-handle";
import { isZkError, type ZkConnection, ZkError } from "./zk-port";

/** A place in the queue: none -> requested (reply open) -> queued -> gone. */
type Place = { readonly state: "none" | "requested" } | { readonly state: "queued"; readonly name: string };

export interface QueueNodeOptions {
  readonly root: string;
  /** Grants come with the node's czxid as their fencing token. */
  readonly isFenced: boolean;
}

/** A node in the queue under `<root>/<resource>`: the lowest holds, each other waits for the one before it. */
export class QueueNode implements ZkLockNode {
  readonly #folder: string;
  readonly #prefix: string;
  readonly #isFenced: boolean;
  #place: Place = { state: "none" };
  #token: bigint | null = null;

  constructor(context: HandleContext, { root, isFenced }: QueueNodeOptions) {
    this.#folder = `${root}/${context.resource}`;
    this.#prefix = queueNodePrefix(uuidFrom(context.random));
    this.#isFenced = isFenced;
  }

  async attempt(connection: ZkConnection, signal: AbortSignal): Promise<GrantedReply | ZkHeldReply> {
    const own = await this.#ownNode(connection, signal);
    const [children, token] = await Promise.all([connection.children(this.#folder), this.#tokenOf(connection, own)]);
    const { isQueued, predecessor } = positionOf(own, children);
    if (!isQueued || token === "gone") {
      // Somebody removed our node (an operator broke the lock): the next try makes a new one.
      this.startOver();
      return { status: "held", watchPath: null };
    }
    if (predecessor !== null) return { status: "held", watchPath: `${this.#folder}/${predecessor}` };
    return token === null ? { status: "granted" } : { status: "granted", fencingToken: token };
  }

  startOver(): void {
    this.#place = { state: "none" };
    this.#token = null;
  }

  async remove(connection: ZkConnection): Promise<"released" | "not_held"> {
    if (this.#place.state === "none") return "released";
    const name = this.#place.state === "queued" ? this.#place.name : await this.#findOwn(connection);
    const isRemoved = name !== undefined && (await connection.remove(`${this.#folder}/${name}`));
    this.startOver();
    return isRemoved ? "released" : "not_held";
  }

  /** Asked for once, with the first look at the queue: a hand-off does not wait for it. @returns null without fencing */
  async #tokenOf(connection: ZkConnection, own: string): Promise<bigint | "gone" | null> {
    if (!this.#isFenced || this.#token !== null) return this.#token;
    const stat = await connection.stat(`${this.#folder}/${own}`);
    this.#token = stat?.czxid ?? null;
    return this.#token ?? "gone";
  }

  /** @returns the name of our node: the one we have, the one whose reply was lost, or a new one */
  async #ownNode(connection: ZkConnection, signal: AbortSignal): Promise<string> {
    if (this.#place.state === "queued") return this.#place.name;
    const found = this.#place.state === "requested" ? await this.#findOwn(connection) : undefined;
    const name = found ?? (await this.#enqueue(connection, signal));
    this.#place = { state: "queued", name };
    return name;
  }

  async #enqueue(connection: ZkConnection, signal: AbortSignal): Promise<string> {
    for (;;) {
      // Once the runner has given this try up, its clean-up may have run: a node made now would stay in the queue.
      if (signal.aborted) throw new ZkError("unreachable", "the try was given up");
      try {
        this.#place = { state: "requested" };
        const path = await connection.create(`${this.#folder}/${this.#prefix}`, "ephemeral-sequential");
        return path.slice(path.lastIndexOf("/") + 1);
      } catch (error) {
        if (!isZkError(error, "no-node")) throw error;
        this.startOver();
        await createFolder(connection, this.#folder);
      }
    }
  }

  /** After a create whose reply was lost: answers come in order, so the node is among the children or never was. */
  async #findOwn(connection: ZkConnection): Promise<string | undefined> {
    try {
      const children = await connection.children(this.#folder);
      return children.find((child) => child.startsWith(this.#prefix));
    } catch (error) {
      if (isZkError(error, "no-node")) return undefined;
      throw error;
    }
  }
}
