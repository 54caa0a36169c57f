import type { Pool } from "pg";
import { Prisma } from "../../generated/prisma/client";
import { postgresPool, prisma } from "../services/postgres";
import { wholeStockOf } from "../stock/bucket-sql";
import { stockTables } from "../stock/stock-sql";
import type { StockTarget } from "../stock/types";
import type { RunDocument } from "./document";
import type { RunSample } from "./run-sample";

/** Runs in PostgreSQL. A run's page needs no other source. */

export interface StoredRun {
  readonly document: RunDocument;
  readonly deadlineAtEpochMs: number;
}

/** Replaces the document of a running run. @returns false if the run has ended, and then changes nothing */
export async function updateRunning(document: RunDocument, deadlineAtEpochMs?: number): Promise<boolean> {
  const ended = document.status !== "running";
  const { count } = await prisma().run.updateMany({
    where: { id: document.id, status: "running" },
    data: {
      status: document.status,
      document,
      // The key of an ended run opens nothing any more.
      ...(ended ? { verdict: document.verdict, finishedAt: new Date(), assignment: Prisma.DbNull } : {}),
      ...(deadlineAtEpochMs === undefined ? {} : { deadlineAt: new Date(deadlineAtEpochMs) }),
    },
  });
  return count === 1;
}

/** Stores the faults of a running run, and the verdict to expect of it under them. */
export async function storeFaults({ id, config, expected }: RunDocument): Promise<void> {
  await postgresPool().query(
    `UPDATE runs SET config = jsonb_set(config, '{faults}', $2),
       document = jsonb_set(jsonb_set(document, '{config,faults}', $2), '{expected}', $3)
     WHERE id = $1 AND status = 'running'`,
    [id, JSON.stringify(config.faults), JSON.stringify(expected)],
  );
}

/** Stores the proxies of a run, for a node that restarts during it. */
export async function storeProxyPorts(id: string, ports: Readonly<Record<string, object>>): Promise<void> {
  await postgresPool().query(
    `UPDATE runs SET assignment = jsonb_set(assignment, '{proxyPorts}', $2::jsonb)
     WHERE id = $1 AND status = 'running' AND assignment IS NOT NULL`,
    [id, JSON.stringify(ports)],
  );
}

/** Null also for a run that is still being prepared. */
export async function readStoredRun(id: string): Promise<StoredRun | null> {
  const select = { document: true, deadlineAt: true };
  const row = await prisma().run.findFirst({ where: { id, phase: { not: "preparing" } }, select });
  return row ? storedRun(row) : null;
}

function storedRun(row: { document: unknown; deadlineAt: Date }): StoredRun {
  return { document: row.document as RunDocument, deadlineAtEpochMs: row.deadlineAt.getTime() };
}

/** @returns false if the run has ended, and then stores nothing */
export async function insertSample(runId: string, sample: RunSample): Promise<boolean> {
  const { rowCount } = await postgresPool().query(
    `INSERT INTO run_samples (run_id, seq, data)
     SELECT id, $2::int, $3::jsonb FROM runs WHERE id = $1 AND status = 'running'`,
    [runId, sample.seq, JSON.stringify(sample)],
  );
  return rowCount === 1;
}

export async function readSamplesAfter(runId: string, seq: number): Promise<RunSample[]> {
  const rows = await prisma().runSample.findMany({
    where: { runId, seq: { gt: seq } },
    orderBy: { seq: "asc" },
    take: 5_000,
    select: { data: true },
  });
  return rows.map((row) => row.data as unknown as RunSample);
}

export interface RunOrder {
  readonly orderId: string;
  readonly opId: string;
  readonly buyerId: string;
  readonly quantity: number;
}

/**
 * Keeps which orders the closing of a run counted: a transaction that was still open may commit an older id later.
 * @param isSeparate they are in a database that ends with the run, so keep all of each
 */
export async function saveClosingOrders(
  runId: string,
  orders: readonly RunOrder[],
  isSeparate: boolean,
): Promise<void> {
  const ids = orders.map(({ orderId }) => orderId);
  await postgresPool().query(
    "UPDATE runs SET closing_orders = $2::bigint[], separate_orders = $3::jsonb WHERE id = $1",
    [runId, isSeparate ? [] : ids, isSeparate ? JSON.stringify(orders) : null],
  );
}

/** The orders that the closing of a run counted, oldest first. */
export async function readClosingOrders(runId: string, kind: StockTarget["kind"]): Promise<readonly RunOrder[]> {
  const run = await prisma().run.findUnique({ where: { id: runId }, select: { separateOrders: true } });
  if (run?.separateOrders) return run.separateOrders as unknown as RunOrder[];
  const closing = "(SELECT unnest(closing_orders) FROM runs WHERE runs.id = $1)";
  const result = await postgresPool().query(`${ordersOfRun(kind)} AND id IN ${closing} ORDER BY id`, [runId]);
  return result.rows as RunOrder[];
}

/** $1 run -> its orders. */
function ordersOfRun(kind: StockTarget["kind"]): string {
  const { orders } = stockTables(kind);
  return `SELECT id::text AS "orderId", coalesce(op_id, '') AS "opId", user_id AS "buyerId", quantity
     FROM ${orders} WHERE run_id = $1`;
}

export interface RunEnd {
  readonly final: number;
  readonly orders: readonly RunOrder[];
}

/** Stock and orders at the end of a run, from one statement and so from one snapshot. */
export async function readRunEnd(pool: Pool, runId: string, target: StockTarget): Promise<RunEnd> {
  const { stock } = stockTables(target.kind);
  // One row per order: the driver would parse 100,000 orders in one JSON value without yielding.
  const result = await pool.query(
    `WITH facts AS MATERIALIZED (SELECT ${wholeStockOf(target.kind)} AS final FROM ${stock} s WHERE s.id = $2)
     SELECT facts.final, o.* FROM facts LEFT JOIN (${ordersOfRun(target.kind)}) o ON true ORDER BY o."orderId"::bigint`,
    [runId, target.id],
  );
  const rows = result.rows as (RunOrder & { readonly final: number })[];
  const [first] = rows;
  if (!first) throw new Error(`${target.kind} ${target.id} of run ${runId} no longer exists`);
  // A run without orders still returns one row, for the stock.
  const orders = rows.filter(({ orderId }) => orderId !== null);
  return {
    final: first.final,
    orders: orders.map(({ orderId, opId, buyerId, quantity }) => ({ orderId, opId, buyerId, quantity })),
  };
}

export interface StockFacts {
  readonly final: number;
  /** Units sold, not rows. */
  readonly orders: number;
}

/** Current stock and units sold of a run's target, from one statement and so from one snapshot. */
export async function readStockFacts(pool: Pool, runId: string, target: StockTarget): Promise<StockFacts> {
  const { stock, orders } = stockTables(target.kind);
  const result = await pool.query({
    name: `facts_${target.kind}`,
    text: `SELECT ${wholeStockOf(target.kind)} AS final, o.orders::int FROM ${stock} s,
      (SELECT coalesce(sum(quantity), 0) AS orders FROM ${orders} WHERE run_id = $1) o
      WHERE s.id = $2`,
    values: [runId, target.id],
  });
  const row = result.rows[0] as StockFacts | undefined;
  if (!row) throw new Error(`${target.kind} ${target.id} of run ${runId} no longer exists`);
  return row;
}
