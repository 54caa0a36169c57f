import type { GrantedReply, HandleContext } from "../lease-backend";
import type { LockEntry } from "../lock-entry";
import type { LockStrategy, StrategyTraits } from "../types";
import { catchUp } from "./catch-up";
import { createZkLock, type ZkLockDependencies, type ZkLockOptions } from "./zk-lock";
import { createFolder, type ZkHeldReply, type ZkLockNode } from "./zk-lock-handle";
import { isZkError, type ZkConnection, ZkError, type ZkSession } from "./zk-port";

export const zkExclusiveTraits: StrategyTraits = {
  id: "zk-exclusive",
  family: "zookeeper",
  kind: "lock",
  mechanism:
    "One ephemeral node: the client that creates it holds the lock. All waiters watch it and wake at every release.",
  remark: "herd",
  needs: ["zookeeper"],
  waiting: "notify",
  fair: false,
  expiryClock: "session",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "survives" },
};

/** Path of all locks unless an option changes it. */
export const EXCLUSIVE_ROOT = "/exclusive-locks";

/** The node at `<root>/<resource>`. Its data names the holder, because all handles of a process share one session. */
class ExclusiveNode implements ZkLockNode {
  readonly #root: string;
  readonly #path: string;
  readonly #holderId: string;
  /** `requested`: a create was sent whose reply is pending or lost. */
  #state: "none" | "requested" | "held" = "none";
  /** The pending removal. A second removal starts after it. */
  #removal: Promise<unknown> = Promise.resolve();

  constructor({ resource, holderId }: HandleContext, root: string) {
    this.#root = root;
    this.#path = `${root}/${resource}`;
    this.#holderId = holderId;
  }

  async attempt(connection: ZkConnection, signal: AbortSignal): Promise<GrantedReply | ZkHeldReply> {
    // After a broken connection the node may exist although its reply was lost.
    const isOwn = this.#state !== "none" && (await this.#isOwn(connection));
    const isAcquired = isOwn || (await this.#acquire(connection, signal));
    this.#state = isAcquired ? "held" : "none";
    return isAcquired ? { status: "granted" } : { status: "held", watchPath: this.#path };
  }

  reset(): void {
    this.#state = "none";
  }

  /**
   * Reads before it removes: after an operator deleted the node, another holder may have created it again. Removals run
   * one at a time, because two that both read first could delete the next holder's node.
   */
  async remove(connection: ZkConnection): Promise<"released" | "not_held"> {
    const removal = Promise.allSettled([this.#removal]).then(() => this.#removeOwn(connection));
    this.#removal = removal;
    return removal;
  }

  async #removeOwn(connection: ZkConnection): Promise<"released" | "not_held"> {
    if (this.#state === "none") return "released";
    const isRemoved = (await this.#isOwn(connection)) && (await connection.remove(this.#path));
    this.#state = "none";
    return isRemoved ? "released" : "not_held";
  }

  /** @returns false if another holder has the node */
  async #acquire(connection: ZkConnection, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      // After the runner gives up a try, its cleanup may already have run. A node created now would never be removed.
      if (signal.aborted) throw new ZkError("unreachable", "the runner gave up this try");
      try {
        this.#state = "requested";
        await connection.create(this.#path, "ephemeral", this.#holderId);
        return true;
      } catch (error) {
        if (isZkError(error, "node-exists")) return false;
        if (!isZkError(error, "no-node")) throw error;
        this.#state = "none";
        await createFolder(connection, this.#root);
      }
    }
  }

  /** After catching up, a node whose create reply was lost is read here or was never created. */
  async #isOwn(connection: ZkConnection): Promise<boolean> {
    // An ephemeral node has no children.
    if (this.#state === "requested") await catchUp(connection, `${this.#path}/catch-up`);
    return (await connection.read(this.#path)) === this.#holderId;
  }
}

/**
 * One ephemeral node as a lock.
 *
 * Mechanism: the client that creates the node holds the lock. All waiters watch the node and try again when it changes.
 * The node's data names the holder, which identifies a create whose reply was lost.
 *
 * Guarantees one holder at a time, and no hold that outlives its session. A restarted server keeps the node and the
 * sessions. Waiters are served in no order, and a waiter can starve. Each release wakes every waiter, of which one gets
 * the lock (the herd): n waiters cost n watch events, n creates and n - 1 new watches, where `zk-mutex` costs one
 * event. `onWatchEvent` counts them.
 * Broken by: a holder paused past the session timeout, because two holders overlap until it detects the loss.
 * `grant.signal` aborts as soon as the connection is lost, even if the session survives.
 * Fencing token: none.
 * Clock: the server's clock ends the session after the session timeout; `ttlMs` does not apply. Times in milliseconds.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`
 * @see https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks
 */
export function createZkExclusive(
  session: ZkSession,
  dependencies: ZkLockDependencies,
  options: Partial<ZkLockOptions> = {},
): LockStrategy {
  const { root = EXCLUSIVE_ROOT, ...runnerOptions } = options;
  const setup = { traits: zkExclusiveTraits, session, dependencies, options: runnerOptions };
  return createZkLock(setup, (context) => new ExclusiveNode(context, root));
}

/** Registration, listed in all-locks.ts. */
export const zkExclusive: LockEntry = {
  traits: zkExclusiveTraits,
  create: (dependencies) => createZkExclusive(dependencies.zookeeper(), dependencies),
};
