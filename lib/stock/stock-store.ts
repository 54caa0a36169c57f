import type { Pool, PoolClient, QueryConfig } from "pg";
import { LockError } from "../locks/errors";
import { isRefusal, SQL_STATE, sqlStateOf } from "../locks/postgres/sql-state";
import { elapsedMs, nowNs } from "../services/monotonic";
import { type StatementName, stockStatement } from "./stock-sql";
import { resourceOf, type StockRequest } from "./types";

/** A row of any of the hot statements; each returns some of these columns. */
export interface StockRow {
  readonly stock?: number;
  readonly version?: number;
  readonly order_id?: string;
}

/**
 * Hot-path access to PostgreSQL: prepared statements on pooled connections, pool wait measured apart from the
 * statement, failures turned into typed errors that say whether the write may have happened.
 */
export class StockStore {
  constructor(
    private readonly pool: Pool,
    readonly node: string,
  ) {}

  /** Runs one hot statement for this request. `tx`: the connection of an open transaction, for locks that live in one. */
  async run(request: StockRequest, statement: Statement): Promise<StockRow | undefined> {
    const client = statement.tx ?? (await this.checkOut(request, statement.strategyId));
    let failure: Error | undefined;
    try {
      const result = await client.query<StockRow>({
        ...stockStatement(request.target.kind, statement.name),
        values: [...statement.values],
        // Bounds a lost server as well as the wait in the row's own queue.
        query_timeout: remainingMs(request),
      } as QueryConfig);
      return result.rows[0];
    } catch (error) {
      failure = error as Error;
      throw this.translate(request, statement, failure);
    } finally {
      // A connection that failed otherwise than by an answer is not used again.
      if (!statement.tx) client.release(failure && !isRefusal(failure) ? failure : undefined);
    }
  }

  /** The order columns every writing statement ends with. */
  orderValues(request: StockRequest, strategyId: string): readonly unknown[] {
    return [request.buyerId, request.quantity, request.trace.opId, request.runId, this.node, strategyId];
  }

  private async checkOut(request: StockRequest, strategyId: string): Promise<PoolClient> {
    const askedNs = nowNs();
    try {
      return await this.pool.connect();
    } catch (error) {
      throw new LockError({
        code: "backend_unavailable",
        strategyId,
        resource: resourceOf(request.target),
        message: `PostgreSQL gave no connection: ${(error as Error).message}`,
        isDefinite: true,
        cause: error,
      });
    } finally {
      request.trace.poolWaitNs = (request.trace.poolWaitNs ?? 0n) + (nowNs() - askedNs);
    }
  }

  private translate(request: StockRequest, statement: Statement, error: Error): Error {
    if (isUniqueViolation(error)) return error;
    // A read sells nothing, nor does a statement the server refused, nor one whose transaction is yet to be committed;
    // a lost reply leaves it open. A lock without a transaction says so with null.
    const isRead = statement.name === "read" || statement.name === "readFenced";
    const isDefinite = isRefusal(error) || isRead || Boolean(statement.tx);
    return new LockError({
      code: isDefinite ? "backend_unavailable" : "outcome_unknown",
      strategyId: statement.strategyId,
      resource: resourceOf(request.target),
      message: `PostgreSQL failed at ${statement.name}: ${error.message}`,
      isDefinite,
      cause: error,
    });
  }
}

/** A purchase that waited its turn to the end still gets this long to read and write. */
const LEAST_STATEMENT_MS = 2_000;

function remainingMs(request: StockRequest): number {
  const leftMs = request.waitTimeoutMs - elapsedMs(request.trace.invokedNs);
  return Math.max(LEAST_STATEMENT_MS, Math.ceil(leftMs));
}

export interface Statement {
  readonly name: StatementName;
  readonly values: readonly unknown[];
  readonly strategyId: string;
  readonly tx?: PoolClient | null | undefined;
}

export function isUniqueViolation(error: unknown): boolean {
  return sqlStateOf(error) === SQL_STATE.uniqueViolation;
}
