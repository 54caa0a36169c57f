import type { GrantedReply, HandleContext } from "../lease-backend";
import type { LockEntry } from "../lock-entry";
import type { LockStrategy, StrategyTraits } from "../types";
import { createZkLock, type ZkLockDependencies, type ZkLockOptions } from "./zk-lock";
import { createFolder, type ZkHeldReply, type ZkLockNode } from "./zk-lock-handle";
import { isZkError, type ZkConnection, ZkError, type ZkSession } from "./zk-port";

export const zkExclusiveTraits: StrategyTraits = {
  id: "zk-exclusive",
  family: "zookeeper",
  kind: "lock",
  mechanism: "One ephemeral node; whoever makes it holds. All others watch it, and all of them wake at every release.",
  remark: "herd",
  needs: ["zookeeper"],
  waiting: "notify",
  fair: false,
  expiryClock: "session",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "survives" },
};

/** The one node at `<root>/<resource>`, with the holder in its data: contenders of one process share a session. */
class ExclusiveNode implements ZkLockNode {
  readonly #root: string;
  readonly #path: string;
  readonly #holderId: string;
  /** `requested`: a create has been sent whose reply is open or was lost. */
  #state: "none" | "requested" | "held" = "none";
  /** The removal under way: a second one looks only when the first is through. */
  #removal: Promise<unknown> = Promise.resolve();

  constructor({ resource, holderId }: HandleContext, root: string) {
    this.#root = root;
    this.#path = `${root}/${resource}`;
    this.#holderId = holderId;
  }

  async attempt(connection: ZkConnection, signal: AbortSignal): Promise<GrantedReply | ZkHeldReply> {
    // After a broken link the node may be there already, whether or not its reply came.
    const isOurs = this.#state !== "none" && (await this.#isOurs(connection));
    const isTaken = isOurs || (await this.#take(connection, signal));
    this.#state = isTaken ? "held" : "none";
    return isTaken ? { status: "granted" } : { status: "held", watchPath: this.#path };
  }

  startOver(): void {
    this.#state = "none";
  }

  /**
   * Looks before it removes: a node that an operator has broken may be somebody else's by now. And one removal at a time:
   * two that looked before either removed would take the next holder's node.
   */
  async remove(connection: ZkConnection): Promise<"released" | "not_held"> {
    const removal = Promise.allSettled([this.#removal]).then(() => this.#removeOwn(connection));
    this.#removal = removal;
    return removal;
  }

  async #removeOwn(connection: ZkConnection): Promise<"released" | "not_held"> {
    if (this.#state === "none") return "released";
    const isRemoved = (await this.#isOurs(connection)) && (await connection.remove(this.#path));
    this.#state = "none";
    return isRemoved ? "released" : "not_held";
  }

  /** @returns false when somebody else has it */
  async #take(connection: ZkConnection, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      // Once the runner has given this try up, its clean-up may have run: a node made now would be nobody's.
      if (signal.aborted) throw new ZkError("unreachable", "the try was given up");
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

  /** Answers come in order, so after a create whose reply was lost the node is there or never was. */
  async #isOurs(connection: ZkConnection): Promise<boolean> {
    return (await connection.read(this.#path)) === this.#holderId;
  }
}

/**
 * One ephemeral node. Whoever creates it holds; everyone else watches it and tries again when it changes.
 *
 * Guarantees one holder at a time and no hold that outlives its session. Waiters are served in no order: whose create
 * arrives first has it, and nothing keeps a waiter from losing for ever. Each release wakes every waiter, of whom one
 * gets in (the herd): with n waiters n watch events, n creates and n - 1 new watches, where `zk-mutex` has one event.
 * `onWatchEvent` counts them. A create whose reply was lost is recognised by the holder in the node's data. A holder paused
 * past the session timeout breaks it: until it notices, two believe they hold. `grant.signal` aborts as soon as the
 * connection is lost, whether or not the session survives. Restarted servers keep node and sessions.
 * No fencing token. The session timeout is the server's, counted on its clock; `ttlMs` does not apply.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`
 * @see https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks on why not to
 */
export function createZkExclusive(
  session: ZkSession,
  dependencies: ZkLockDependencies,
  options: Partial<ZkLockOptions> = {},
): LockStrategy {
  const { root = "/exclusive-locks", ...runnerOptions } = options;
  const parts = { traits: zkExclusiveTraits, session, dependencies, options: runnerOptions };
  return createZkLock(parts, (context) => new ExclusiveNode(context, root));
}

/** Registration, listed in all-locks.ts. */
export const zkExclusive: LockEntry = {
  traits: zkExclusiveTraits,
  create: (dependencies) => createZkExclusive(dependencies.zookeeper(), dependencies),
};
