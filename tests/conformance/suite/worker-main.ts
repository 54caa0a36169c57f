import type { Grant, LockStrategy } from "../../../lib/locks/types";
import { nowNs } from "../../../lib/services/monotonic";
import type { StockStrategy } from "../../../lib/stock/types";
import { type LockClients, openLockClients } from "../../support/lock-clients";
import { waitUntil } from "../../support/wait-until";
import { foreignEntry, isLock, makeLock, makeStock, postgresOptions, type TestSetup } from "./test-setup";
import type { BuyOrder, HoldOrder, WorkerMessage, WorkerOrder } from "./worker-protocol";

/** The other end of `Worker`: a process that does what it is told, order after order. */

const CLOSING_LIMIT_MS = 5_000;
/** Outlives the stalls of a busy machine, and is looked at several times a second; cases wait for its end. */
const SESSION_MS = 4_000;

/** A strategy, with what there was in the process before it. */
interface Opened {
  readonly clients: LockClients;
  readonly lock: LockStrategy | null;
  readonly stock: StockStrategy;
  readonly before: readonly string[];
}

function say(message: WorkerMessage): void {
  process.send?.(message);
}

async function main(): Promise<void> {
  const orders = inbox();
  let opened: Opened | null = null;
  say({ type: "ready" });
  for (;;) {
    const order = await orders();
    if (order.kind === "end") return;
    if (order.kind === "open") opened = await open(order.plug);
    else if (opened === null) throw new Error(`nothing is open to ${order.kind}`);
    else if (order.kind === "close") {
      await close(opened);
      opened = null;
    } else await work(opened, order);
  }
}

async function open(plug: TestSetup): Promise<Opened> {
  const before = process.getActiveResourcesInfo();
  const foreign = await foreignEntry(plug);
  const clients = openLockClients({}, { postgres: postgresOptions(plug), sessionTimeoutMs: SESSION_MS });
  const lock = isLock(plug) ? makeLock(plug, foreign, clients) : null;
  const stock = makeStock(plug, foreign, clients);
  // Connects before anything is measured.
  const warmUp = { resource: `warm:${process.pid}`, ttlMs: 5_000, waitTimeoutMs: 10_000 };
  await lock?.runGuarded(warmUp, async () => {});
  await clients.postgres().pool.query("SELECT 1");
  say({ type: "opened" });
  return { clients, lock, stock, before };
}

async function work({ lock, stock }: Opened, order: HoldOrder | BuyOrder): Promise<void> {
  if (order.kind === "buy") await buyAll(stock, order);
  else if (lock) await Promise.all(Array.from({ length: order.callers }, () => holdInTurn(lock, order)));
  say({ type: "done" });
}

async function close({ stock, lock, clients, before }: Opened): Promise<void> {
  for (const one of [stock, lock, clients]) await one?.[Symbol.asyncDispose]();
  // Sockets close a moment after they were told to.
  const left = () => surplus(process.getActiveResourcesInfo(), before);
  const [isQuiet] = await Promise.allSettled([
    waitUntil(() => left().length === 0, { what: "nothing to be left", withinMs: CLOSING_LIMIT_MS }),
  ]);
  say({ type: "closed", left: isQuiet.status === "fulfilled" ? [] : left() });
}

async function holdInTurn(lock: LockStrategy, order: HoldOrder): Promise<void> {
  const { resource, ttlMs, waitTimeoutMs } = order;
  for (let turn = 0; turn < order.holdsEach; turn += 1) {
    const outcome = await lock.runGuarded({ resource, ttlMs, waitTimeoutMs }, (grant) => hold(grant, order.holdMs));
    if (outcome.status === "contended") say({ type: "contended" });
  }
}

async function hold({ holderId, fencingToken, signal }: Grant, holdMs: number): Promise<void> {
  const fromNs = nowNs();
  say({ type: "granted" });
  signal.addEventListener("abort", () => say({ type: "lost" }), { once: true });
  await new Promise((resolve) => setTimeout(resolve, holdMs));
  const token = fencingToken === null ? null : String(fencingToken);
  say({ type: "hold", holderId, fromNs: String(fromNs), toNs: String(nowNs()), fencingToken: token });
}

let operations = 0;

async function buyAll(strategy: StockStrategy, { target, buyerIds, holdMs }: BuyOrder): Promise<void> {
  const limits = { holdMs, ttlMs: 5_000, waitTimeoutMs: 20_000 };
  const outcomes = await Promise.all(
    buyerIds.map((buyerId) => {
      operations += 1;
      const trace = { opId: `c-${process.pid}-${operations}`, invokedNs: nowNs() };
      return strategy.reduceStock({ target, quantity: 1, buyerId, runId: null, ...limits, trace });
    }),
  );
  say({ type: "bought", statuses: outcomes.map(({ status }) => status) });
}

/** Orders in the order they came, whether or not somebody was waiting for them. */
function inbox(): () => Promise<WorkerOrder> {
  const orders: WorkerOrder[] = [];
  let wake = () => {};
  process.on("message", (order) => {
    orders.push(order as WorkerOrder);
    wake();
  });
  return async () => {
    while (orders.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return orders.shift() as WorkerOrder;
  };
}

/** What there is more of than before. */
function surplus(now: readonly string[], before: readonly string[]): string[] {
  const known = [...before];
  return now.filter((resource) => {
    const index = known.indexOf(resource);
    if (index >= 0) known.splice(index, 1);
    return index < 0;
  });
}

main().then(
  () => process.disconnect(),
  (error: unknown) => {
    say({ type: "failed", message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    process.disconnect();
  },
);
