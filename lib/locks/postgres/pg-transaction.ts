import type { QueryResult } from "pg";
import { LockError } from "../errors";
import type { StrategyUnderTest } from "./pg-port";
import type { PinnedClient } from "./pinned-client";
import { isRefusal, unavailable } from "./sql-state";

/** How long PostgreSQL may take to answer what waits for nobody. */
export const ANSWER_LIMIT_MS = 1_000;
/** A commit waits for the disk. */
const COMMIT_LIMIT_MS = 2_000;
/** Below the limit of a release, so that the connection is destroyed within it when there is no answer. */
const ROLLBACK_LIMIT_MS = 500;

export interface Opening {
  readonly isolation: "READ COMMITTED" | "SERIALIZABLE";
  /** Sent with BEGIN, in the same round trip. */
  readonly statements: readonly string[];
  /** How long the statements may wait for others. */
  readonly waitMs: number;
}

/**
 * One transaction on a connection of its own. States: new -> open -> committed | ended. However it goes, `end` gives the
 * connection back without an open transaction, or destroys it.
 */
export class PgTransaction {
  readonly client: PinnedClient;
  readonly #subject: StrategyUnderTest;
  #state: "new" | "open" | "committed" | "ended" = "new";

  constructor(client: PinnedClient, subject: StrategyUnderTest) {
    this.client = client;
    this.#subject = subject;
  }

  /**
   * @returns the results of the statements
   * @throws what PostgreSQL or the connection said; the transaction is then good for nothing but `end`
   */
  async begin({ isolation, statements, waitMs }: Opening): Promise<QueryResult[]> {
    this.#state = "open";
    const text = [`BEGIN ISOLATION LEVEL ${isolation}`, ...statements].join("; ");
    const [, ...results] = await this.client.query(text, waitMs + ANSWER_LIMIT_MS);
    return results;
  }

  /**
   * @throws {LockError} `outcome_unknown` when the answer was lost; `backend_unavailable` when PostgreSQL refused;
   *   `lease_lost` when a statement had failed before, so that PostgreSQL rolled back instead
   */
  async commit(): Promise<void> {
    let results: QueryResult[];
    try {
      results = await this.client.query("COMMIT", COMMIT_LIMIT_MS);
    } catch (error) {
      if (isRefusal(error)) throw unavailable(error, this.#subject);
      const message = `the answer to COMMIT was lost: ${(error as Error).message}`;
      throw new LockError({ ...this.#subject, code: "outcome_unknown", message, isDefinite: false, cause: error });
    }
    this.#state = "committed";
    if (results[0]?.command === "COMMIT") return;
    const message = "a statement had failed, so the transaction was rolled back";
    throw new LockError({ ...this.#subject, code: "lease_lost", message, isDefinite: true });
  }

  /**
   * Rolls back what is not committed and lets go of the connection. Idempotent.
   * @param undo sent after the rollback, for what a rollback leaves behind
   * @returns false when the connection had been lost
   */
  async end(undo?: string): Promise<boolean> {
    const isOpen = this.#state === "open";
    this.#state = "ended";
    try {
      if (isOpen && !this.client.flaw) {
        await this.client.query(undo ? `ROLLBACK; ${undo}` : "ROLLBACK", ROLLBACK_LIMIT_MS);
      }
      return this.client.flaw === null;
    } catch (error) {
      // Without an answer the client has noted its flaw and is destroyed, which ends the transaction as well.
      if (this.client.flaw === null && error instanceof Error) this.client.markBroken(error);
      return false;
    } finally {
      this.client.unpin();
    }
  }
}
