import type { QueryResult } from "pg";
import { LockError } from "../errors";
import type { ErrorContext } from "./pg-port";
import type { PinnedClient } from "./pinned-client";
import { isRefusal, unavailable } from "./sql-state";

/** Maximum time for a PostgreSQL answer that does not wait for a lock. */
export const ANSWER_LIMIT_MS = 1_000;
/** A commit waits for the disk. */
export const COMMIT_LIMIT_MS = 2_000;
/** Shorter than the release limit, so a connection that does not answer is destroyed within it. */
const ROLLBACK_LIMIT_MS = 500;

export interface BeginOptions {
  readonly isolation: "READ COMMITTED" | "SERIALIZABLE";
  /** Sent together with BEGIN, in one round trip. */
  readonly statements: readonly string[];
  /** How long the statements may wait for locks. */
  readonly waitMs: number;
}

/**
 * One transaction on one pinned connection. States: new -> open -> committed | ended. `end` always returns the
 * connection without an open transaction, or destroys it.
 */
export class PgTransaction {
  readonly client: PinnedClient;
  readonly #errorContext: ErrorContext;
  #state: "new" | "open" | "committed" | "ended" = "new";

  constructor(client: PinnedClient, errorContext: ErrorContext) {
    this.client = client;
    this.#errorContext = errorContext;
  }

  /**
   * @returns the results of the statements
   * @throws the error of PostgreSQL or the connection; afterwards only `end` may be called
   */
  async begin({ isolation, statements, waitMs }: BeginOptions): Promise<QueryResult[]> {
    this.#state = "open";
    const text = [`BEGIN ISOLATION LEVEL ${isolation}`, ...statements].join("; ");
    const [, ...results] = await this.client.query(text, waitMs + ANSWER_LIMIT_MS);
    return results;
  }

  /**
   * @throws {LockError} `outcome_unknown` if the answer was lost; `backend_unavailable` if PostgreSQL rejected the
   *   commit; `lease_lost` if a statement had failed, so that PostgreSQL rolled back
   */
  async commit(limitMs: number): Promise<void> {
    let results: QueryResult[];
    try {
      results = await this.client.query("COMMIT", limitMs);
    } catch (error) {
      if (isRefusal(error)) throw unavailable(error, this.#errorContext);
      const message = `the connection failed during COMMIT, so the transaction may have committed: ${(error as Error).message}`;
      throw new LockError({ ...this.#errorContext, code: "outcome_unknown", message, isDefinite: false, cause: error });
    }
    this.#state = "committed";
    if (results[0]?.command === "COMMIT") return;
    const message = "PostgreSQL rolled the transaction back because an earlier statement had failed";
    throw new LockError({ ...this.#errorContext, code: "lease_lost", message, isDefinite: true });
  }

  /**
   * Rolls back if not committed, and returns the connection. Idempotent.
   * @param undo sent after the rollback, for effects that a rollback does not undo
   * @returns false if the connection was lost
   */
  async end(undo?: string): Promise<boolean> {
    const isOpen = this.#state === "open";
    this.#state = "ended";
    try {
      if (isOpen && !this.client.brokenBy) {
        await this.client.query(undo ? `ROLLBACK; ${undo}` : "ROLLBACK", ROLLBACK_LIMIT_MS);
      }
      return this.client.brokenBy === null;
    } catch (error) {
      // Without an answer, the client is marked broken and destroyed, which also ends the transaction.
      if (this.client.brokenBy === null && error instanceof Error) this.client.markBroken(error);
      return false;
    } finally {
      this.client.unpin();
    }
  }
}
