import type { Pool, PoolClient, QueryConfig } from "pg";
import { LockError } from "../locks/errors";
import { isRefusal } from "../locks/postgres/sql-state";
import { elapsedMs, nowNs } from "../services/monotonic";
import type { OrderVariant } from "./order-sql";
import { type PoolWaitPhase, recordPoolWait } from "./pool-wait";
import type { ReleaseSql } from "./release-sql";
import { rowRejectionOf } from "./row-rejection";
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
    let failure: Error | undefined;
    try {
      const result = await client.query<Row>({
        ...stockStatement(request.target.kind, statement.name, variant),
        values: [...statement.values],
        // Limits the wait for the row lock, and for a server that does not reply.
        query_timeout: remainingMs(request),
      } as QueryConfig);
      return result.rows[0];
    } catch (error) {
      failure = error as Error;
      throw this.toLockError(request, statement, failure);
    } finally {
      // After an error that is not a reply of the server, the pool closes the connection.
      if (!statement.tx) client.release(failure && !isRefusal(failure) ? failure : undefined);
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
      cause: error,
    });
  }
}

/** A read is part of the hold if the lock is granted, and part of the wait otherwise. */
function phaseOf(trace: OperationTrace, name: StatementName): PoolWaitPhase {
  if (!READS.has(name)) return "commit";
  return trace.grantedNs === undefined ? "wait" : "hold";
}

/** A purchase that got the lock at the end of its wait timeout still has this long for each statement. */
const MIN_STATEMENT_MS = 2_000;

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
