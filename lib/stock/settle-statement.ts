import type { PoolClient } from "pg";
import type { Clock } from "../locks/clock";
import { hasSqlState } from "../locks/postgres/sql-state";
import { type Settled, withDeadline } from "../locks/with-deadline";

/** Requests that the server cancel the statement of a connection. Resolves when the server has the request, or after the limit. */
export type CancelStatement = (client: PoolClient, clock: Clock, limitMs: number) => Promise<void>;

export interface SettleDependencies {
  readonly clock: Clock;
  readonly cancel: CancelStatement;
}

const CANCEL_LIMIT_MS = 300;
const END_LIMIT_MS = 700;
/** Longest time from the limit of a statement until its end is confirmed or given up. */
export const SETTLE_LIMIT_MS = CANCEL_LIMIT_MS + END_LIMIT_MS;

export interface RunningStatement<T> {
  readonly client: PoolClient;
  readonly work: Promise<T>;
  readonly limitMs: number;
}

export interface SettledStatement<T> {
  /**
   * `value`, or `error` of PostgreSQL: the statement has ended. Any other error and `late`: PostgreSQL has not confirmed its end, and
   * may still be executing it.
   */
  readonly settled: Settled<T>;
  /** True: close the connection, because the cancel request might hit its next statement. */
  readonly wasCancelled: boolean;
}

/**
 * Waits for a statement until its limit. Then cancels it and waits for its reply, which says whether it was cancelled or
 * completed before the cancel request arrived. Also cancels it if its connection breaks, because the server may not notice that.
 * Never rejects.
 */
export async function settleStatement<T>(
  { client, work, limitMs }: RunningStatement<T>,
  { clock, cancel }: SettleDependencies,
): Promise<SettledStatement<T>> {
  const inTime = await withDeadline(clock, work, { limitMs });
  if (hasEnded(inTime)) return { settled: inTime, wasCancelled: false };
  await cancel(client, clock, CANCEL_LIMIT_MS);
  return { settled: await withDeadline(clock, work, { limitMs: END_LIMIT_MS }), wasCancelled: true };
}

function hasEnded(settled: Settled<unknown>): boolean {
  return settled.status === "value" || (settled.status === "error" && hasSqlState(settled.error as Error));
}
