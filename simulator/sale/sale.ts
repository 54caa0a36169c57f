import { isLockError } from "../../lib/locks/errors";
import { LockedStock } from "../../lib/stock/locked-stock";
import { StockStore } from "../../lib/stock/stock-store";
import { resourceOf, type StockOutcome } from "../../lib/stock/types";
import { type FenceCheck, SimDatabase } from "../servers/sim-database";
import { abortListenerCount } from "../world/fast-abort";
import { SimProcess } from "../world/process";
import { type Violation, World } from "../world/world";
import { HoldMonitor } from "./hold-monitor";
import { planFaults } from "./plan-faults";
import type { Cluster, OpenedLock, Profile, SimStrategy } from "./scenario";

export interface SaleOptions {
  readonly strategy: SimStrategy;
  readonly profile: Profile;
  readonly seed: number;
  readonly isTracing?: boolean;
  /** Where the database checks the fencing token. Only mutants deviate from `read-and-write`. */
  readonly fence?: FenceCheck;
  /** False: the store does not cancel a write at its limit. Only mutants set it. */
  readonly cancelsWrites?: boolean;
}

export interface SaleResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly lostUpdates: number;
  /** How often two processes held the lock at once, whether or not the profile allows it. */
  readonly overlaps: number;
  readonly grants: number;
  readonly sold: number;
  readonly events: number;
  readonly hash: string;
  readonly lines: readonly string[];
}

interface Node {
  readonly process: SimProcess;
  readonly opened: OpenedLock;
  readonly stock: LockedStock;
}

interface Purchase {
  readonly opId: string;
  readonly node: Node;
  readonly signal: AbortSignal;
  isSettled: boolean;
  /** Null when the purchase failed, or its process crashed. */
  outcome: StockOutcome | null;
  error: unknown;
}

const TARGET = { kind: "product", id: 1 } as const;
const RESOURCE = resourceOf(TARGET);
/** After the faults are over, every call must end within this time. */
const SETTLE_LIMIT_MS = 20_000;
const PROBE_MARGIN_MS = 1_500;
const DISPOSE_LIMIT_MS = 5_000;
/** Buyers who wait this long can be granted after a late write. */
const LATE_WRITE_MS = 6_000;

/** Runs the world of one seed from the first purchase to the last timer, and collects the violations. */
export class Sale {
  readonly #options: SaleOptions;
  readonly #world: World;
  readonly #database: SimDatabase;
  readonly #holds: HoldMonitor;
  readonly #cluster: Cluster;
  readonly #nodes: Node[] = [];
  readonly #purchases: Purchase[] = [];
  readonly #ttlMs: number;
  readonly #hasLateWrites: boolean;

  constructor(options: SaleOptions) {
    const { strategy, profile, seed, isTracing = false } = options;
    this.#options = options;
    const world = new World(seed, isTracing);
    this.#world = world;
    const { random } = world;
    this.#ttlMs = random.pick(strategy.ttlsMs);
    this.#hasLateWrites = random.chance(0.15);
    const isBenign = profile === "benign";
    const slowestMs = isBenign ? this.#ttlMs / 24 : random.pick([this.#ttlMs / 20, this.#ttlMs / 4, this.#ttlMs * 1.2]);
    this.#database = new SimDatabase(
      world,
      {
        slowestMs: this.#ttlMs / 20,
        breakChance: 0.02,
        stallChance: isBenign ? 0 : 0.06,
        longestStallMs: this.#ttlMs * 3,
        lateChance: this.#hasLateWrites ? 0.25 : 0,
        // After a renewal on time, at least half of the lease remains when the client gives up.
        longestInFlightMs: this.#ttlMs / 3,
      },
      { stock: random.whole(1, 6), fence: options.fence ?? "read-and-write" },
    );
    const keepsData = profile !== "amnesia";
    this.#holds = new HoldMonitor(world, { tokensRise: keepsData, isExclusive: keepsData, ttlMs: this.#ttlMs });
    this.#cluster = strategy.build(world, {
      ttlMs: this.#ttlMs,
      conditions: { slowestMs, breakChance: isBenign ? 0.002 : 0.01, repeatChance: 0.004, dropChance: 0.03 },
      resource: RESOURCE,
    });
    const processes = random.pick([2, 2, 2, 2, 2, 2, 3, 3, 3, 4]);
    for (let number = 1; number <= processes; number += 1) this.#addNode(`node-${number}`);
  }

  async run(): Promise<SaleResult> {
    const world = this.#world;
    this.#planPurchases();
    const healedMs = planFaults({
      world,
      profile: this.#options.profile,
      ttlMs: this.#ttlMs,
      cluster: this.#cluster,
      processes: this.#nodes.map(({ process }) => process),
      linksOf: (process) => this.#nodes.find((node) => node.process === process)?.opened.links ?? [],
    });
    const areSettled = () => this.#purchases.every(({ isSettled, node }) => isSettled || node.process.isCrashed);
    if (!(await world.run(areSettled, healedMs + SETTLE_LIMIT_MS))) this.#reportUnsettled();
    // Faults of nodes cannot affect the newcomers; faults of servers can, so let these finish first.
    if (this.#options.profile === "amnesia") await world.run(() => false, Math.max(1, healedMs - world.nowMs));
    await this.#probe();
    await this.#disposeAll(Math.max(0, healedMs - world.nowMs) + DISPOSE_LIMIT_MS);
    this.#checkDatabase();
    return this.#result();
  }

  #addNode(name: string): Node {
    const world = this.#world;
    const { random } = world;
    const clock = { rate: random.between(0.9965, 1.0035), skewMs: random.between(-2_000, 2_000) };
    const process = new SimProcess(world, name, clock);
    process.onResumed = () => this.#holds.check();
    const opened = this.#cluster.open(process, { clock: process, random });
    const store = new StockStore(this.#database.poolFor(process), name, {
      clock: process,
      cancel: this.#options.cancelsWrites === false ? async () => {} : this.#database.cancel,
    });
    const { storesLockOf } = this.#cluster;
    const isStored = storesLockOf && (() => storesLockOf(process));
    const lock = this.#holds.watch(process, { lock: opened.lock, isStored });
    const stock = new LockedStock(lock, store, { work: (holdMs) => process.sleep(holdMs) });
    const node = { process, opened, stock };
    this.#nodes.push(node);
    return node;
  }

  #planPurchases(): void {
    const { random } = this.#world;
    const most = random.pick([1, 1, 2, 2, 2, 3]);
    for (const node of [...this.#nodes]) {
      for (let left = random.whole(1, most); left > 0; left -= 1) {
        const startMs = random.between(0, random.pick([20, this.#ttlMs]));
        this.#world.schedule({ afterMs: startMs, process: node.process, run: () => this.#buy(node) });
        this.#purchases.push(this.#plan(node));
      }
    }
  }

  #plan(node: Node): Purchase {
    const opId = `op-${this.#purchases.length + 1}`;
    return { opId, node, signal: new AbortController().signal, isSettled: false, outcome: null, error: null };
  }

  #buy(node: Node): void {
    const { random } = this.#world;
    const at = this.#purchases.findIndex((purchase) => purchase.node === node && !this.#started.has(purchase.opId));
    const planned = this.#purchases[at];
    if (!planned) return;
    this.#started.add(planned.opId);
    const giveUp = new AbortController();
    const purchase: Purchase = { ...planned, signal: giveUp.signal };
    this.#purchases[at] = purchase;
    const ttlMs = this.#ttlMs;
    const holdMs = random.chance(0.1) ? random.between(ttlMs, ttlMs * 2) : random.between(0, ttlMs * 0.5);
    const longestWaitMs = this.#hasLateWrites ? LATE_WRITE_MS : ttlMs * 3;
    const waitTimeoutMs = random.chance(0.1) ? 0 : random.between(ttlMs / 2, longestWaitMs);
    if (random.chance(0.08))
      this.#world.schedule({
        afterMs: random.between(0, ttlMs),
        process: node.process,
        run: () => giveUp.abort(new Error("the buyer left")),
      });
    void this.#settle(purchase, { holdMs, waitTimeoutMs: Math.round(waitTimeoutMs) });
  }

  readonly #started = new Set<string>();

  async #settle(purchase: Purchase, sizes: { holdMs: number; waitTimeoutMs: number }): Promise<void> {
    const { opId, node, signal } = purchase;
    try {
      purchase.outcome = await node.stock.reduceStock({
        target: TARGET,
        quantity: 1,
        buyerId: opId,
        runId: null,
        ttlMs: this.#ttlMs,
        signal,
        trace: { opId, invokedNs: 0n },
        ...(this.#options.fence === "nowhere" ? { fencing: false } : {}),
        ...sizes,
      });
      this.#world.trace(() => `${node.process.name}: ${opId} ${purchase.outcome?.status}`);
    } catch (error) {
      purchase.error = error;
      this.#world.trace(() => `${node.process.name}: ${opId} failed: ${String(error)}`);
    }
    purchase.isSettled = true;
    this.#checkAnswer(purchase);
  }

  /** A sold outcome means one order; any other outcome and any definite error mean none. */
  #checkAnswer({ opId, outcome, error, signal }: Purchase): void {
    const orders = this.#database.ordersOf(opId);
    const world = this.#world;
    if (abortListenerCount(signal) > 0)
      world.reportViolation("clean-up", `${opId} left an abort listener on the signal of its caller`);
    if (outcome) {
      const due = outcome.status === "sold" ? 1 : 0;
      if (orders !== due)
        world.reportViolation(
          "accurate-outcome",
          `${opId} got the outcome ${outcome.status}, expected ${due} orders, found ${orders}`,
        );
      return;
    }
    if (!isLockError(error)) {
      world.reportViolation("typed-errors", `${opId}: ${error instanceof Error ? error.stack : String(error)}`);
      return;
    }
    if (error.isDefinite && orders > 0)
      world.reportViolation(
        "accurate-outcome",
        `${opId} got the definite error ${error.code}, expected 0 orders, found ${orders}`,
      );
  }

  #reportUnsettled(): void {
    for (const { opId, isSettled, node } of this.#purchases)
      if (!isSettled && !node.process.isCrashed)
        this.#world.reportViolation("liveness", `${opId} of ${node.process.name} did not end within the time limit`);
  }

  /**
   * After all faults, two newcomers must get the lock within the time that a crashed holder or a lost wake-up can cost.
   * They start together, so that one of them waits for the release of the other.
   */
  async #probe(): Promise<void> {
    const world = this.#world;
    const { random } = world;
    const waitTimeoutMs = this.#options.strategy.maxHoldAfterCrashMs(this.#ttlMs) + PROBE_MARGIN_MS;
    const answers: string[] = [];
    const enter = async (name: string) => {
      const { process, opened } = this.#addNode(name);
      const holdMs = random.between(0, 12);
      const request = { resource: RESOURCE, waitTimeoutMs, ttlMs: this.#ttlMs };
      const [outcome] = await Promise.allSettled([opened.lock.runGuarded(request, () => process.sleep(holdMs))]);
      answers.push(outcome.status === "fulfilled" ? outcome.value.status : String(outcome.reason));
      world.trace(() => `${name}: ${answers.at(-1)}`);
    };
    void enter("newcomer-1");
    world.schedule({ afterMs: random.between(0, 12), run: () => void enter("newcomer-2") });
    await world.run(() => answers.length === 2, waitTimeoutMs + SETTLE_LIMIT_MS);
    for (const answer of answers)
      if (answer !== "completed") world.reportViolation("liveness", `a newcomer did not get the lock: ${answer}`);
    if (answers.length < 2) world.reportViolation("liveness", "a newcomer did not end within the time limit");
  }

  async #disposeAll(limitMs: number): Promise<void> {
    const world = this.#world;
    const open = new Set(this.#nodes.filter(({ process }) => !process.isCrashed));
    for (const node of open)
      void node.stock[Symbol.asyncDispose]()
        .then(() => node.opened.close?.())
        .then(() => open.delete(node));
    // A process may also crash during its disposal, while it still keeps a hold.
    const areDisposed = () => [...open].every(({ process }) => process.isCrashed);
    if (!(await world.run(areDisposed, limitMs)))
      world.reportViolation("clean-up", "a disposal did not end within the time limit");
    for (const { process } of this.#nodes)
      if (!process.isCrashed && process.pendingTimers > 0)
        world.reportViolation(
          "clean-up",
          `${process.name} has ${process.pendingTimers} timers left after its disposal, expected 0`,
        );
  }

  #checkDatabase(): void {
    const { profile, strategy } = this.#options;
    const { stock, initialStock, orders, lostUpdates } = this.#database;
    const isPromised = profile === "benign" || (profile === "pause" && strategy.isFenced);
    if (!isPromised) return;
    if (lostUpdates > 0)
      this.#world.reportViolation("lost-update", `${lostUpdates} writes replaced a value that the writer had not read`);
    if (orders.length > initialStock)
      this.#world.reportViolation("oversell", `expected at most ${initialStock} orders, found ${orders.length}`);
    if (stock !== initialStock - orders.length)
      this.#world.reportViolation(
        "conservation",
        `expected a stock of ${initialStock - orders.length} after ${orders.length} orders, found ${stock}`,
      );
  }

  #result(): SaleResult {
    const { violations, events, hash, lines } = this.#world;
    const { seed } = this.#options;
    const { lostUpdates, orders } = this.#database;
    const { overlaps, grants } = this.#holds;
    return { seed, violations, lostUpdates, overlaps, grants, sold: orders.length, events, hash, lines };
  }
}
