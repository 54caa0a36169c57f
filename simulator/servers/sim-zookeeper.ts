import type { ZkCreateMode, ZkStat } from "../../lib/locks/zookeeper/zk-port";
import { ZkError } from "../../lib/locks/zookeeper/zk-port";
import type { World } from "../world/world";
import { SimServer } from "./sim-server";

interface Node {
  readonly data: string;
  readonly czxid: bigint;
  /** Session of an ephemeral node; null for a persistent node. */
  readonly owner: string | null;
  /** Number of the next sequential child. */
  childrenCreated: number;
}

interface Session {
  readonly timeoutMs: number;
  /** On the server's clock. */
  lastHeardAtMs: number;
  /** Closes the connection of the client. */
  closeConnection: () => void;
}

interface Watch {
  readonly session: string;
  readonly fire: () => void;
}

export interface SessionRequest {
  /** Null requests a new session. */
  readonly session: string | null;
  readonly timeoutMs: number;
  readonly closeConnection: () => void;
}

/** One ZooKeeper server, in place of an ensemble: sessions, nodes and one-shot watches. */
export class SimZooKeeper extends SimServer {
  #nodes = new Map<string, Node>();
  #sessions = new Map<string, Session>();
  readonly #watches = new Map<string, Set<Watch>>();
  #zxid = 0n;
  #sessionCount = 0;

  constructor(world: World, name: string, rate: number) {
    super(world, name, rate);
    this.dropData();
  }

  /** @returns the resumed or new session; null if the requested session has expired */
  connect({ session, timeoutMs, closeConnection }: SessionRequest): string | null {
    const existing = session === null ? undefined : this.#sessions.get(session);
    if (session !== null && !existing) return null;
    if (session !== null && existing) {
      this.#dropWatches(session);
      existing.closeConnection = closeConnection;
      existing.lastHeardAtMs = this.nowMs;
      return session;
    }
    this.#sessionCount += 1;
    const id = `session-${this.#sessionCount}`;
    this.#sessions.set(id, { timeoutMs, lastHeardAtMs: this.nowMs, closeConnection });
    this.#watchExpiry(id, timeoutMs);
    return id;
  }

  /** Extends the session; every request calls it. @returns false if the session has ended */
  recordHeartbeat(session: string): boolean {
    const existing = this.#sessions.get(session);
    if (existing) existing.lastHeardAtMs = this.nowMs;
    return existing !== undefined;
  }

  create(session: string, path: string, how: { readonly mode: ZkCreateMode; readonly data: string }): string {
    const parent = this.#nodes.get(parentOf(path));
    if (!parent) throw new ZkError("no-node", path);
    const isSequential = how.mode === "ephemeral-sequential";
    const full = isSequential ? `${path}${String(parent.childrenCreated).padStart(10, "0")}` : path;
    if (this.#nodes.has(full)) throw new ZkError("node-exists", full);
    if (parent.owner) throw new ZkError("refused", `${path}: an ephemeral node has no children`);
    parent.childrenCreated += 1;
    this.#zxid += 1n;
    const owner = how.mode === "persistent" ? null : session;
    this.#nodes.set(full, { data: how.data, czxid: this.#zxid, owner, childrenCreated: 0 });
    if (owner) this.world.trace(() => `${this.name}: ${session} creates ${full}`);
    return full;
  }

  children(path: string): string[] {
    if (!this.#nodes.has(path)) throw new ZkError("no-node", path);
    const prefix = `${path}/`;
    return [...this.#nodes.keys()]
      .filter((known) => known.startsWith(prefix) && !known.includes("/", prefix.length))
      .map((known) => known.slice(prefix.length));
  }

  watch(session: string, path: string, fire: () => void): boolean {
    if (!this.#nodes.has(path)) return false;
    const watches = this.#watches.get(path) ?? new Set();
    this.#watches.set(path, watches.add({ session, fire }));
    return true;
  }

  read(path: string): string | null {
    return this.#nodes.get(path)?.data ?? null;
  }

  stat(path: string): ZkStat | null {
    const node = this.#nodes.get(path);
    return node ? { czxid: node.czxid, ephemeralOwner: node.owner ?? "0" } : null;
  }

  remove(session: string, path: string): boolean {
    const node = this.#nodes.get(path);
    if (!node) return false;
    if (this.children(path).length > 0) throw new ZkError("refused", `${path} has children`);
    if (node.owner) this.recordRelease(session, node.owner);
    this.#delete(path);
    return true;
  }

  close(session: string): void {
    this.#end(session, "closed");
  }

  protected override dropData(): void {
    this.#nodes = new Map([["", { data: "", czxid: 0n, owner: null, childrenCreated: 0 }]]);
    this.#sessions = new Map();
  }

  protected override onRestart(): void {
    this.#watches.clear();
  }

  #watchExpiry(id: string, afterMs: number): void {
    this.world.schedule({
      afterMs,
      run: () => {
        const session = this.#sessions.get(id);
        if (!session) return;
        const leftMs = session.lastHeardAtMs + session.timeoutMs - this.nowMs;
        if (leftMs > 0) this.#watchExpiry(id, leftMs + 0.01);
        else this.#end(id, "expired");
      },
    });
  }

  #end(id: string, why: string): void {
    const session = this.#sessions.get(id);
    if (!session) return;
    this.world.trace(() => `${this.name}: ${id} ${why}`);
    this.#sessions.delete(id);
    this.#dropWatches(id);
    for (const [path, node] of this.#nodes) if (node.owner === id) this.#delete(path);
    session.closeConnection();
  }

  #delete(path: string): void {
    this.#nodes.delete(path);
    this.#zxid += 1n;
    const watches = this.#watches.get(path);
    this.#watches.delete(path);
    for (const { fire } of watches ?? []) fire();
  }

  #dropWatches(session: string): void {
    for (const watches of this.#watches.values())
      for (const watch of watches) if (watch.session === session) watches.delete(watch);
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
