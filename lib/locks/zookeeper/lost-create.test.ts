import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FakeClock } from "../testing/fake-clock";
import { seededRandom } from "../testing/seeded-random";
import type { LockStrategy } from "../types";
import { createZkExclusive } from "./zk-exclusive";
import { createZkFenced } from "./zk-fenced";
import type { ZkLockDependencies } from "./zk-lock";
import { createZkMutex } from "./zk-mutex";
import { type ZkConnection, type ZkCreateMode, ZkError, type ZkSession, type ZkStat } from "./zk-port";

interface Node {
  readonly data: string;
  readonly czxid: bigint;
  readonly isEphemeral: boolean;
}

/**
 * One session in an ensemble. The reply to its first ephemeral create is lost, and it reconnects to a member that has
 * not applied this create. As in ZooKeeper, reads are answered from the member's copy, and a write, also one that fails,
 * brings the copy up to date before its reply.
 */
class LaggingConnection implements ZkConnection {
  readonly sessionId = "1";
  readonly ended = new AbortController().signal;
  isUp = true;
  readonly #committed = new Map<string, Node>();
  #copy = new Map<string, Node>();
  readonly #listeners = new Set<(link: "up" | "down") => void>();
  readonly #onLostReply: () => void;
  #lostReplies = 0;
  #zxid = 0n;

  constructor(onLostReply: () => void) {
    this.#onLostReply = onLostReply;
  }

  get ephemeralNodes(): string[] {
    return [...this.#committed].filter(([, { isEphemeral }]) => isEphemeral).map(([path]) => path);
  }

  get lostReplies(): number {
    return this.#lostReplies;
  }

  onLinkChange(listener: (link: "up" | "down") => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  reconnect(): void {
    if (!this.isUp) this.#change(true);
  }

  async create(path: string, mode: ZkCreateMode, data = ""): Promise<string> {
    this.#requireUp();
    const isEphemeral = mode !== "persistent";
    const isReplyLost = isEphemeral && this.#lostReplies === 0 && this.#committed.has(parentOf(path));
    if (!isReplyLost) this.#copy = new Map(this.#committed);
    if (parentOf(path) !== "" && !this.#committed.has(parentOf(path))) throw new ZkError("no-node", path);
    this.#zxid += 1n;
    const full = mode === "ephemeral-sequential" ? path + String(this.#zxid).padStart(10, "0") : path;
    if (this.#committed.has(full)) throw new ZkError("node-exists", full);
    this.#committed.set(full, { data, czxid: this.#zxid, isEphemeral });
    if (isReplyLost) this.#loseReply();
    this.#copy = new Map(this.#committed);
    return full;
  }

  async remove(path: string): Promise<boolean> {
    this.#requireUp();
    const isRemoved = this.#committed.delete(path);
    this.#copy = new Map(this.#committed);
    return isRemoved;
  }

  async children(path: string): Promise<string[]> {
    this.#requireUp();
    if (!this.#copy.has(path)) throw new ZkError("no-node", path);
    return [...this.#copy.keys()].filter((each) => parentOf(each) === path).map((each) => each.slice(path.length + 1));
  }

  async read(path: string): Promise<string | null> {
    this.#requireUp();
    return this.#copy.get(path)?.data ?? null;
  }

  async stat(path: string): Promise<ZkStat | null> {
    this.#requireUp();
    const node = this.#copy.get(path);
    return node ? { czxid: node.czxid, ephemeralOwner: node.isEphemeral ? this.sessionId : "0" } : null;
  }

  async watch(path: string): Promise<boolean> {
    this.#requireUp();
    return this.#copy.has(path);
  }

  #requireUp(): void {
    if (!this.isUp) throw new ZkError("unreachable", "the link is down");
  }

  #loseReply(): never {
    this.#lostReplies += 1;
    this.#change(false);
    this.#onLostReply();
    throw new ZkError("unreachable", "the reply to the create was lost");
  }

  #change(isUp: boolean): void {
    this.isUp = isUp;
    for (const listener of [...this.#listeners]) listener(isUp ? "up" : "down");
  }
}

const strategies: Record<string, (session: ZkSession, dependencies: ZkLockDependencies) => LockStrategy> = {
  "zk-mutex": createZkMutex,
  "zk-fenced": createZkFenced,
  "zk-exclusive": createZkExclusive,
};

const request = { resource: "product:1", waitTimeoutMs: 0, ttlMs: 1_000 };

describe("a ZooKeeper create whose reply was lost, with a reconnect to a lagging member", () => {
  for (const [id, create] of Object.entries(strategies)) {
    it(`${id} is granted the lock by the node that it created, and leaves no node`, async () => {
      const { connection, lock } = setUp(create);
      const held = await lock.runGuarded(request, async () => connection.ephemeralNodes);
      assert.equal(connection.lostReplies, 1);
      assert.ok(held.status === "completed", `expected a hold, found ${held.status}: its own node blocks the lock`);
      assert.equal(held.value.length, 1, `expected 1 node, found ${held.value}`);
      assert.deepEqual(connection.ephemeralNodes, []);
    });

    it(`${id} removes the node of a caller that gave up`, async () => {
      const caller = new AbortController();
      const { connection, lock } = setUp(create, () => caller.abort());
      const [call] = await Promise.allSettled([
        lock.runGuarded({ ...request, signal: caller.signal }, async () => assert.fail("expected no hold")),
      ]);
      assert.equal(call.status, "rejected");
      assert.equal(connection.lostReplies, 1);
      connection.reconnect();
      await lock[Symbol.asyncDispose]();
      assert.deepEqual(connection.ephemeralNodes, []);
    });
  }
});

function setUp(create: (typeof strategies)[string], onLostReply: () => void = () => {}) {
  const connection = new LaggingConnection(onLostReply);
  const session: ZkSession = {
    connected: async () => {
      connection.reconnect();
      return connection;
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const lock = create(session, { clock: new FakeClock(), random: seededRandom(1), onIncident: () => {} });
  return { connection, lock };
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
