import { LockError } from "../errors";
import type { Contender, Contest, LeaseBackend, TryLimits } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import { uuidFrom } from "../random";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { contenderPrefix, placeOf } from "./lock-queue";
import { isZkError, type ZkConnection, ZkError, type ZkSession } from "./zk-port";

export const zkMutexTraits: StrategyTraits = {
  id: "zk-mutex",
  family: "zookeeper",
  kind: "lock",
  mechanism: "Ephemeral sequential nodes under the lock; the lowest holds, each other watches only the one before it.",
  remark: "fair queue",
  needs: ["zookeeper"],
  waiting: "notify",
  fair: true,
  expiryClock: "session",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "survives" },
};

/** A place in the queue: none -> requested (reply open) -> queued -> gone. */
type Place = { readonly state: "none" | "requested" } | { readonly state: "queued"; readonly name: string };

class ZkMutexContender implements Contender {
  readonly #session: ZkSession;
  readonly #contest: Contest;
  readonly #folder: string;
  readonly #prefix: string;
  #connection: ZkConnection | null = null;
  #place: Place = { state: "none" };
  #predecessor: string | null = null;
  #stopListening: () => void = () => {};

  constructor(session: ZkSession, contest: Contest, root: string) {
    this.#session = session;
    this.#contest = contest;
    this.#folder = `${root}/${contest.resource}`;
    this.#prefix = contenderPrefix(uuidFrom(contest.random));
  }

  /** A link that breaks in mid-try costs no place: once it is back, the node is where it was. */
  async tryAcquire({ signal }: TryLimits) {
    for (;;) {
      try {
        return await this.#standInLine(await this.#session.connected(signal), signal);
      } catch (error) {
        if (signal.aborted || !isZkError(error, "unreachable")) throw this.#asLockError(error);
      }
    }
  }

  waitForTurn(signal: AbortSignal): Promise<void> {
    const connection = this.#connection;
    const predecessor = this.#predecessor;
    if (!connection || predecessor === null || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        stopListening();
        signal.removeEventListener("abort", done);
        resolve();
      };
      const stopListening = connection.onLinkChange(done);
      signal.addEventListener("abort", done, { once: true });
      // A watch that could not be set wakes the waiter too: its next try finds out why.
      connection.watch(`${this.#folder}/${predecessor}`, done).then((exists) => exists || done(), done);
    });
  }

  async release() {
    this.#stopListening();
    const connection = this.#connection;
    if (!connection || this.#place.state === "none") return "released";
    if (connection.ended.aborted) return "not_held";
    try {
      return await this.#removeOwn(connection);
    } catch (error) {
      if (isZkError(error, "session-ended")) return "not_held";
      if (isZkError(error, "unreachable")) this.#removeWhenUp(connection);
      throw this.#asLockError(error);
    }
  }

  #grant(connection: ZkConnection) {
    if (!connection.isUp) throw new ZkError("unreachable", "the connection was lost as the lock was granted");
    const reason = new Error("the connection to ZooKeeper is lost, and with it the certainty of the hold");
    this.#stopListening = connection.onLinkChange(() => this.#contest.declareLost(reason));
    return { status: "granted" } as const;
  }

  async #standInLine(connection: ZkConnection, signal: AbortSignal) {
    // Another session: our node died with the last one, and we stand at the end again.
    if (connection !== this.#connection) this.#place = { state: "none" };
    this.#connection = connection;
    const own = await this.#ownNode(connection, signal);
    const { isQueued, predecessor } = placeOf(own, await connection.children(this.#folder));
    this.#predecessor = predecessor;
    // Somebody removed our node (an operator broke the lock): the next try makes a new one.
    if (!isQueued) this.#place = { state: "none" };
    if (!isQueued || predecessor !== null) return { status: "held" } as const;
    return this.#grant(connection);
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
        this.#place = { state: "none" };
        await createFolder(connection, this.#folder);
      }
    }
  }

  async #removeOwn(connection: ZkConnection): Promise<"released" | "not_held"> {
    const name = this.#place.state === "queued" ? this.#place.name : await this.#findOwn(connection);
    const isRemoved = name !== undefined && (await connection.remove(`${this.#folder}/${name}`));
    this.#place = { state: "none" };
    return isRemoved ? "released" : "not_held";
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

  /** An orphan would block the queue until the session ends, which with this process alive is never. */
  #removeWhenUp(connection: ZkConnection): void {
    const stopListening = connection.onLinkChange(async (link) => {
      if (link === "down") return;
      const [removal] = await Promise.allSettled([this.#removeOwn(connection)]);
      if (removal.status === "fulfilled" || !isZkError(removal.reason, "unreachable")) stopListening();
    });
  }

  #asLockError(error: unknown): unknown {
    if (!(error instanceof Error) || error.name !== "ZkError") return error;
    const isLost = isZkError(error, "unreachable", "session-ended");
    const { resource } = this.#contest;
    return new LockError({
      code: isLost ? "backend_unavailable" : "config_invalid",
      strategyId: zkMutexTraits.id,
      resource,
      message: error.message,
      isDefinite: true,
      cause: error,
    });
  }
}

async function createFolder(connection: ZkConnection, folder: string): Promise<void> {
  const parts = folder.split("/").slice(1);
  for (let depth = 1; depth <= parts.length; depth++) {
    try {
      await connection.create(`/${parts.slice(0, depth).join("/")}`, "persistent");
    } catch (error) {
      if (!isZkError(error, "node-exists")) throw error;
    }
  }
}

/** Longer than elsewhere: giving a try up gives the place in the queue up, and the session notices silence by itself. */
const DEFAULT_TRY_LIMIT_MS = 4_000;

export interface ZkMutexOptions extends RunnerOptions {
  /** Node under which every resource has one of its own. Curator's and kazoo's lock path is `<root>/<resource>`. */
  readonly root: string;
}

/**
 * A queue of ephemeral sequential nodes; whoever has the lowest holds, and each waiter watches the one before it.
 *
 * Guarantees one holder at a time, first come first served, one waiter woken per release, and no hold that outlives its
 * session. The create is protected: a node whose reply was lost is found again by its uuid. A holder paused past the
 * session timeout breaks it: until it notices, two believe they hold. `grant.signal` aborts as soon as the connection is
 * lost, whether or not the session survives. Restarted servers keep queue and sessions.
 * No fencing token (`zk-fenced` uses the node's czxid). The session timeout is the server's, counted on its clock;
 * `ttlMs` does not apply.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`
 * @see https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks
 */
export function createZkMutex(
  session: ZkSession,
  dependencies: RunnerDependencies,
  options: Partial<ZkMutexOptions> = {},
): LockStrategy {
  const { root = "/locks", tryLimitMs = DEFAULT_TRY_LIMIT_MS, ...runnerOptions } = options;
  const backend: LeaseBackend = {
    traits: zkMutexTraits,
    leaseKind: "session",
    enter: (contest) => new ZkMutexContender(session, contest, root),
  };
  return new LeaseRunner(backend, dependencies, { tryLimitMs, ...runnerOptions });
}
