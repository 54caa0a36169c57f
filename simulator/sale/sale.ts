import { isLockError } from "../../lib/locks/errors";
import { LockedStock } from "../../lib/stock/locked-stock";
import { StockStore } from "../../lib/stock/stock-store";
import type { StockOutcome } from "../../lib/stock/types";
import { type FenceCheck, SimDatabase } from "../servers/sim-database";
import { SimProcess } from "../world/process";
import { abortListeners } from "../world/quick-abort";
import { type Violation, World } from "../world/world";
import { Beliefs } from "./beliefs";
import { planFaults } from "./faults";
import type { Cluster, OpenedLock, Profile, SimStrategy } from "./scenario";

export interface SaleOptions {
  readonly strategy: SimStrategy;
  readonly profile: Profile;
  readonly seed: number;
  readonly isTracing?: boolean;
  /** Where the database checks a fencing token; anything but `read-and-write` is a mutant's. */
  readonly fence?: FenceCheck;
}

export interface SaleResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly lostUpdates: number;
  /** Times two believed at once, whether or not that was promised not to happen. */
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
  /** Left open by a crash. */
  outcome: StockOutcome | null;
  error: unknown;
}

const RESOURCE_ID = 1;
/** No call, with everything it may have to wait for, lasts longer once the faults are over. */
const SETTLE_LIMIT_MS = 20_000;
const PROBE_MARGIN_MS = 1_500;
const DISPOSE_LIMIT_MS = 5_000;

/** One seed, from an open sale to the last timer: whatever went wrong is in the result. */
export class Sale {
  readonly #options: SaleOptions;
  readonly #world: World;
  readonly #database: SimDatabase;
  readonly #beliefs: Beliefs;
  readonly #cluster: Cluster;
  readonly #nodes: Node[] = [];
  readonly #purchases: Purchase[] = [];
  readonly #ttlMs: number;

  constructor(options: SaleOptions) {
    const { strategy, profile, seed, isTracing = false } = options;
    this.#options = options;
    const world = new World(seed, isTracing);
    this.#world = world;
    const { random } = world;
    this.#ttlMs = random.pick(strategy.ttlsMs);
    const isBenign = profile === "benign";
    const slowestMs = isBenign ? this.#ttlMs / 24 : random.pick([this.#ttlMs / 20, this.#ttlMs / 4, this.#ttlMs * 1.2]);
    this.#database = new SimDatabase(
      world,
      {
        slowestMs: this.#ttlMs / 20,
        breakChance: 0.02,
        stallChance: isBenign ? 0 : 0.06,
        longestStallMs: this.#ttlMs * 3,
      },
      { stock: random.whole(1, 6), fence: options.fence ?? "read-and-write" },
    );
    this.#beliefs = new Beliefs(world, { tokensRise: profile !== "amnesia", isExclusive: profile !== "amnesia" });
    this.#cluster = strategy.build(world, {
      ttlMs: this.#ttlMs,
      weather: { slowestMs, breakChance: isBenign ? 0.002 : 0.01, repeatChance: 0.004, dropChance: 0.03 },
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
    // Only the servers' own faults can reach newcomers.
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
    process.onResumed = () => this.#beliefs.check();
    const opened = this.#cluster.open(process, { clock: process, random });
    const store = new StockStore(this.#database.poolFor(process), name);
    const lock = this.#beliefs.watch(process, opened.lock);
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
    const waitTimeoutMs = random.chance(0.1) ? 0 : random.between(ttlMs / 2, ttlMs * 3);
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
        target: { kind: "product", id: RESOURCE_ID },
        quantity: 1,
        buyerId: opId,
        runId: null,
        ttlMs: this.#ttlMs,
        signal,
        trace: { opId, invokedNs: 0n },
        ...(this.#options.fence === "nowhere" ? { fencing: false } : {}),
        ...sizes,
      });
      this.#world.say(() => `${node.process.name}: ${opId} ${purchase.outcome?.status}`);
    } catch (error) {
      purchase.error = error;
      this.#world.say(() => `${node.process.name}: ${opId} failed: ${String(error)}`);
    }
    purchase.isSettled = true;
    this.#checkAnswer(purchase);
  }

  /** What the buyer was told must be true, as far as it was certain. */
  #checkAnswer({ opId, outcome, error, signal }: Purchase): void {
    const orders = this.#database.ordersOf(opId);
    const world = this.#world;
    if (abortListeners(signal) > 0) world.violate("clean-up", `${opId} left a listener on its signal`);
    if (outcome) {
      const due = outcome.status === "sold" ? 1 : 0;
      if (orders !== due) world.violate("honesty", `${opId} was told ${outcome.status} and has ${orders} orders`);
      return;
    }
    if (!isLockError(error)) {
      world.violate("typed-errors", `${opId}: ${error instanceof Error ? error.stack : String(error)}`);
      return;
    }
    if (error.isDefinite && orders > 0)
      world.violate("honesty", `${opId} was told that it certainly failed (${error.code}) and has ${orders} orders`);
  }

  #reportUnsettled(): void {
    for (const { opId, isSettled, node } of this.#purchases)
      if (!isSettled && !node.process.isCrashed)
        this.#world.violate("liveness", `${opId} of ${node.process.name} never came to an end`);
  }

  /**
   * Whatever has been left behind, newcomers get the lock within the time that a dead holder or a lost wake-up may cost:
   * two at once, so that one of them has to wait for the other's release.
   */
  async #probe(): Promise<void> {
    const world = this.#world;
    const { random } = world;
    const waitTimeoutMs = this.#options.strategy.freedAfterMs(this.#ttlMs) + PROBE_MARGIN_MS;
    const answers: string[] = [];
    const enter = async (name: string) => {
      const { process, opened } = this.#addNode(name);
      const holdMs = random.between(0, 12);
      const request = { resource: `product:${RESOURCE_ID}`, waitTimeoutMs, ttlMs: this.#ttlMs };
      const [outcome] = await Promise.allSettled([opened.lock.runGuarded(request, () => process.sleep(holdMs))]);
      answers.push(outcome.status === "fulfilled" ? outcome.value.status : String(outcome.reason));
      world.say(() => `${name}: ${answers.at(-1)}`);
    };
    void enter("newcomer-1");
    world.schedule({ afterMs: random.between(0, 12), run: () => void enter("newcomer-2") });
    await world.run(() => answers.length === 2, waitTimeoutMs + SETTLE_LIMIT_MS);
    for (const answer of answers)
      if (answer !== "completed") world.violate("liveness", `a newcomer got no lock: ${answer}`);
    if (answers.length < 2) world.violate("liveness", "a newcomer never came to an end");
  }

  async #disposeAll(limitMs: number): Promise<void> {
    const world = this.#world;
    const living = this.#nodes.filter(({ process }) => !process.isCrashed);
    let left = living.length;
    for (const { stock, opened } of living)
      void stock[Symbol.asyncDispose]()
        .then(() => opened.close?.())
        .then(() => {
          left -= 1;
        });
    if (!(await world.run(() => left === 0, limitMs))) world.violate("clean-up", "a disposal never ended");
    for (const { process } of living)
      if (process.pendingTimers > 0)
        world.violate("clean-up", `${process.name} has ${process.pendingTimers} timers left after its disposal`);
    for (const leftover of this.#cluster.leftovers?.() ?? []) world.violate("clean-up", `left behind: ${leftover}`);
  }

  #checkDatabase(): void {
    const { profile, strategy } = this.#options;
    const { stock, initialStock, orders, lostUpdates } = this.#database;
    const isPromised = profile === "benign" || (profile === "pause" && strategy.isFenced);
    if (!isPromised) return;
    if (lostUpdates > 0) this.#world.violate("lost-update", `${lostUpdates} writes over a value nobody had read`);
    if (orders.length > initialStock)
      this.#world.violate("oversell", `${orders.length} orders for a stock of ${initialStock}`);
    if (stock !== initialStock - orders.length)
      this.#world.violate("conservation", `${initialStock} - ${orders.length} orders is not ${stock}`);
  }

  #result(): SaleResult {
    const { violations, events, hash, lines } = this.#world;
    const { seed } = this.#options;
    const { lostUpdates, orders } = this.#database;
    const { overlaps, grants } = this.#beliefs;
    return { seed, violations, lostUpdates, overlaps, grants, sold: orders.length, events, hash, lines };
  }
}
