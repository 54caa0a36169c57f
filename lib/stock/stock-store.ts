import type { Pool, PoolClient, QueryConfig, QueryResult } from "pg";
import { systemClock } from "../locks/clock";
import { LockError } from "../locks/errors";
import { requestCancel } from "../locks/postgres/cancel-request";
import { hasSqlState, isRefusal } from "../locks/postgres/sql-state";
import type { Settled } from "../locks/with-deadline";
import { elapsedMs, nowNs } from "../services/monotonic";
import type { OrderVariant } from "./order-sql";
import { type PoolWaitPhase, recordPoolWait } from "./pool-wait";
import type { ReleaseSql } from "./release-sql";
import { rowRejectionOf } from "./row-rejection";
import { SETTLE_LIMIT_MS, type SettleDependencies, settleStatement } from "./settle-statement";
import { type StatementName, stockStatement } from "./stock-sql";
import {
  type GiveBackRequest,
  type HeldOrder,
  type OperationTrace,
  type OrderTerms,
  resourceOf,
  type StockOperation,
  type StockRequest,
} from "./types";

/** Result row of a hot statement. Each statement returns some of these columns. */
export interface StockRow {
  readonly stock?: number;
  readonly version?: number;
  readonly order_id?: string;
}

/** Result of a release statement (release-sql.ts). */
export interface Released {
  /** Number of orders that were still pending. */
  readonly due: number;
  readonly released: readonly HeldOrder[];
}

/**
 * Hot-path access to PostgreSQL: runs prepared statements on pooled connections, measures the wait for a connection, and turns
 * failures into LockErrors that say whether the write may have happened.
 */
export class StockStore {
  constructor(
    private readonly pool: Pool,
    readonly node: string,
    private readonly dependencies: SettleDependencies = { clock: systemClock, cancel: requestCancel },
  ) {}

  /** Runs one statement of a purchase. `statement.tx`: the connection of an open transaction, for locks held by one. */
  run(request: StockRequest, statement: Statement): Promise<StockRow | undefined> {
    // The load of a run has no order terms.
    if (request.order === undefined || READS.has(statement.name)) return this.query(request, statement, "plain");
    const values = [...statement.values, ...extraValues(request)];
    return this.query(request, { ...statement, values }, variantOf(request.order));
  }

  /** Reads the stock for an operation other than a purchase. */
  read(work: StockOperation, statement: Statement): Promise<StockRow | undefined> {
    return this.query(work, statement, "plain");
  }

  /** Ends orders and returns their units. `statement.values`: the parameters from $7 on. */
  async release(request: GiveBackRequest, statement: Statement & { name: keyof ReleaseSql }): Promise<Released> {
    const { target, orders, as, reason, dueBefore, trace } = request;
    const ids = orders.map(({ orderId }) => orderId);
    const values = [target.id, ids, as, reason, dueBefore, trace.opId, ...statement.values];
    const row = await this.query<Released>(request, { ...statement, values }, "plain");
    return row ?? { due: 0, released: [] };
  }

  private async query<Row extends object = StockRow>(
    request: StockOperation,
    statement: Statement,
    variant: OrderVariant,
  ): Promise<Row | undefined> {
    const client = statement.tx ?? (await this.checkOut(request, statement));
    // Why the pool must close the connection.
    let unusable: Error | undefined;
    try {
      // Limits the wait for the row lock, and for a server that does not reply.
      const limitMs = remainingMs(request);
      const settles = mustSettle(statement);
      const work = client.query<Row>({
        ...stockStatement(request.target.kind, statement.name, variant),
        values: [...statement.values],
        // pg discards a reply that arrives after this timeout. The reply to a cancelled statement is needed.
        query_timeout: settles ? limitMs + 2 * SETTLE_LIMIT_MS : limitMs,
      } as QueryConfig);
      if (!settles) return (await work).rows[0];
      const { settled, wasCancelled } = await settleStatement({ client, work, limitMs }, this.dependencies);
      if (wasCancelled) unusable = new Error("a cancel request might hit the next statement of this connection");
      return replyOf(settled, limitMs).rows[0];
    } catch (error) {
      const failure = error as Error;
      // After an error that is not a reply of the server, the connection cannot be reused.
      if (!isRefusal(failure)) unusable ??= failure;
      throw this.toLockError(request, statement, failure);
    } finally {
      if (!statement.tx) client.release(unusable);
    }
  }

  /** The order parameters of every writing statement. */
  orderValues(request: StockRequest, strategyId: string): readonly unknown[] {
    return [request.buyerId, request.quantity, request.trace.opId, request.runId, this.node, strategyId];
  }

  private async checkOut(request: StockOperation, { name, strategyId }: Statement): Promise<PoolClient> {
    const requestedNs = nowNs();
    try {
      return await this.pool.connect();
    } catch (error) {
      throw new LockError({
        code: "backend_unavailable",
        strategyId,
        resource: resourceOf(request.target),
        message: `no connection to PostgreSQL: ${(error as Error).message}; nothing was written`,
        isDefinite: true,
        cause: error,
      });
    } finally {
      recordPoolWait(request.trace, requestedNs, phaseOf(request.trace, name));
    }
  }

  private toLockError(request: StockOperation, statement: Statement, error: Error): Error {
    if (rowRejectionOf(error)) return error;
    // A read, a refused statement and an uncommitted transaction have sold nothing. Any other lost reply may hide a sale.
    // Locks without a transaction pass null as `tx`.
    const isDefinite = isRefusal(error) || READS.has(statement.name) || Boolean(statement.tx);
    return new LockError({
      code: isDefinite ? "backend_unavailable" : "outcome_unknown",
      strategyId: statement.strategyId,
      resource: resourceOf(request.target),
      message: `PostgreSQL failed the statement ${statement.name}: ${error.message}`,
      isDefinite,
      mayBeInFlight: mustSettle(statement) && !hasSqlState(error),
      cause: error,
    });
  }
}

/** @throws the error of the statement */
function replyOf<Row extends object>(settled: Settled<QueryResult<Row>>, limitMs: number): QueryResult<Row> {
  if (settled.status === "value") return settled.value;
  if (settled.status === "error") throw settled.error;
  throw new Error(`no reply within ${limitMs} ms, nor after a cancel request`);
}

/**
 * Writes that replace the stock without a condition. If such a write takes effect after the release of its lock, it undoes the write of
 * the next holder. Its end must therefore be known before the release.
 */
const OVERWRITES: ReadonlySet<StatementName> = new Set(["writeAbsolute", "releaseAbsolute"]);

/** A transaction that holds the lock ends together with its writes. */
function mustSettle({ name, tx }: Statement): boolean {
  return !tx && OVERWRITES.has(name);
}

/** A read is part of the hold if the lock is granted, and part of the wait otherwise. */
function phaseOf(trace: OperationTrace, name: StatementName): PoolWaitPhase {
  if (!READS.has(name)) return "commit";
  return trace.grantedNs === undefined ? "wait" : "hold";
}

/** A purchase that got the lock at the end of its wait timeout still has this long for each statement. */
export const MIN_STATEMENT_MS = 2_000;

function remainingMs(request: StockOperation): number {
  const leftMs = request.waitTimeoutMs - elapsedMs(request.trace.invokedNs);
  return Math.max(MIN_STATEMENT_MS, Math.ceil(leftMs));
}

export interface Statement {
  readonly name: StatementName;
  readonly values: readonly unknown[];
  readonly strategyId: string;
  readonly tx?: PoolClient | null | undefined;
}

const READS: ReadonlySet<StatementName> = new Set(["read", "readFenced"]);

function variantOf(order: OrderTerms): OrderVariant {
  return order.kind === "pending" ? "settle" : "shop";
}

/** The parameters that a variant takes in addition to those of `plain`; they come last. */
function extraValues({ order, target }: StockRequest): readonly unknown[] {
  if (order === undefined) return [];
  if (order.kind === "pending") return [order.orderId];
  const { idempotencyKey, paymentWindowMs, purchaseTokenId } = order;
  return target.kind === "coupon" ? [idempotencyKey] : [idempotencyKey, paymentWindowMs, purchaseTokenId];
}
