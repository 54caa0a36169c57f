import { randomUUID } from "node:crypto";
import { RunProxies } from "../../lib/faults/run-proxies";
import { openProxiedClients } from "../../lib/node/proxied-clients";
import { nowNs } from "../../lib/services/monotonic";
import { postgresPool } from "../../lib/services/postgres";
import type { Buyer, Recording } from "../../lib/stock/recorded-commands";
import { sleepMs } from "../../lib/stock/sleep";
import { createStockStrategy, traitsOf } from "../../lib/stock/stock-strategies";
import type { OperationTrace, StockStrategy, StockTarget } from "../../lib/stock/types";
import type { ServerId } from "../../servers/all-servers";
import { Gate } from "./gate";
import { type Bought, recordingOf } from "./recording";
import { type Seen, tap } from "./tap";

/** Each buyer has a store node of their own, so that the proxies tell them apart. */
const BUYERS: readonly Buyer[] = ["A", "B"];
/** Buyer A's business logic while buyer B wants the lock: long enough to see how B waits. */
const HOLD_MS = 150;
const TTL_MS = 5_000;
const WAIT_TIMEOUT_MS = 10_000;

/** One buyer, with a strategy and connections of their own. */
interface Side extends AsyncDisposable {
  readonly buyer: Buyer;
  readonly strategy: StockStrategy;
  readonly seen: Seen[];
  readonly gate: Gate;
}

interface Session {
  isRecording: boolean;
  /** A and B take turns at commands that can change data. */
  readonly isGated: boolean;
  /** Called in A's critical section. */
  duringWork: (() => Promise<void>) | null;
}

/**
 * Records two concurrent purchases, one unit each. Both buyers purchased before: connections are open and scripts are loaded.
 * Under a lock, B comes while A works inside the critical section. Under an atomic strategy, A's first command that can change
 * data waits until B has read too.
 */
export async function recordStrategy(strategyId: string, target: StockTarget): Promise<Recording> {
  const { kind, needs } = traitsOf(strategyId);
  const servers = [...new Set<ServerId>(["postgres", ...(needs as ServerId[])])];
  await using proxies = new RunProxies();
  await proxies.open(BUYERS, servers);
  const session: Session = { isRecording: false, isGated: kind === "atomic", duringWork: null };
  await using a = openSide("A", { strategyId, servers, proxies, session });
  await using b = openSide("B", { strategyId, servers, proxies, session });
  for (const side of [a, b]) await purchase(side, target);
  const before = await stockOf(target);
  session.isRecording = true;
  const bought = await (session.isGated ? buyGated(a, b, target) : buyUnderLock({ a, b, target, session }));
  session.isRecording = false;
  return recordingOf({ seen: { A: a.seen, B: b.seen }, bought, stock: { before, after: await stockOf(target) } });
}

interface SideOptions {
  readonly strategyId: string;
  readonly servers: readonly ServerId[];
  readonly proxies: RunProxies;
  readonly session: Session;
}

function openSide(buyer: Buyer, { strategyId, servers, proxies, session }: SideOptions): Side {
  const seen: Seen[] = [];
  const gate = new Gate();
  for (const proxy of proxies.between([buyer], servers)) {
    tap(proxy, {
      onSeen: (one) => session.isRecording && seen.push(one),
      beforeChange: () => (session.isRecording && session.isGated ? gate.pass() : Promise.resolve()),
    });
  }
  const { pool, locks, close } = openProxiedClients({ ports: proxies.ports[buyer] ?? {}, addresses: {} });
  const inWork = () => (buyer === "A" && session.duringWork ? session.duringWork() : null);
  const strategy = createStockStrategy(strategyId, {
    pool,
    node: `node-${buyer}`,
    locks,
    failpoints: { inWork, beforeWrite: () => {} },
  });
  return {
    buyer,
    strategy,
    seen,
    gate,
    async [Symbol.asyncDispose]() {
      await strategy[Symbol.asyncDispose]();
      await close();
    },
  };
}

interface LockedPurchases {
  readonly a: Side;
  readonly b: Side;
  readonly target: StockTarget;
  readonly session: Session;
}

/** B starts when A is inside the critical section, and A works on for a while. */
async function buyUnderLock({ a, b, target, session }: LockedPurchases): Promise<Bought[]> {
  let second: Promise<Bought> | null = null;
  session.duringWork = () => {
    session.duringWork = null;
    second = purchase(b, target);
    // Awaited below, after A's purchase.
    second.catch(() => {});
    return sleepMs(HOLD_MS);
  };
  const bought = await purchase(a, target);
  if (second === null)
    throw new Error(`${a.strategy.id}: buyer A did not enter the critical section: ${bought.outcome}`);
  return [bought, await second];
}

/** A changes nothing before B is about to change something; B changes nothing before A is done. */
async function buyGated(a: Side, b: Side, target: StockTarget): Promise<Bought[]> {
  const first = purchase(a, target);
  await Promise.race([a.gate.arrival, first]);
  const second = purchase(b, target);
  await Promise.race([b.gate.arrival, second]);
  a.gate.open();
  const bought = await first;
  b.gate.open();
  return [bought, await second];
}

async function purchase({ buyer, strategy }: Side, target: StockTarget): Promise<Bought> {
  const trace: OperationTrace = { opId: `${buyer}-${randomUUID()}`, invokedNs: nowNs() };
  const { status } = await strategy.reduceStock({
    target,
    quantity: 1,
    buyerId: `buyer-${buyer}`,
    runId: null,
    holdMs: 0,
    ttlMs: TTL_MS,
    waitTimeoutMs: WAIT_TIMEOUT_MS,
    trace,
  });
  return { buyer, trace, outcome: status };
}

async function stockOf({ id }: StockTarget): Promise<number> {
  const { rows } = await postgresPool().query<{ stock: number }>(
    `SELECT stock + coalesce((SELECT sum(units) FROM stock_buckets WHERE kind = 'product' AND target_id = $1), 0)::int AS stock
     FROM products WHERE id = $1`,
    [id],
  );
  return rows[0]?.stock ?? 0;
}
