import type { Pool } from "pg";
import { parseSynchronousCommit } from "../services/env";
import { isLostDatabase } from "../services/lost-database";
import { applyMigrations } from "../services/migrations";
import { openPostgresPool, postgresPool } from "../services/postgres";
import { stockTables } from "../stock/stock-sql";
import type { StockTarget } from "../stock/types";

/** The database that has the stock and the orders of one run. */
export interface StockDatabase {
  /** True if it ends with the run. */
  readonly isSeparate: boolean;
  /** Reads or changes what the run sold. */
  read<T>(work: (pool: Pool) => Promise<T>): Promise<T>;
}

/** The database of the shop and of all runs. */
export const labDatabase: StockDatabase = { isSeparate: false, read: (work) => work(postgresPool()) };

/** A database that a topology started for one run. The run's document, history and samples are in the lab's database. */
export class SeparateDatabase implements StockDatabase, AsyncDisposable {
  readonly isSeparate = true;

  private constructor(
    /** How the nodes connect. */
    readonly addresses: { readonly postgres: string },
    private readonly pool: Pool,
  ) {}

  /** Creates the lab's tables. @param url of an empty database */
  static async open(url: string): Promise<SeparateDatabase> {
    await applyMigrations(url);
    const onIdleLoss = () => {};
    const pool = openPostgresPool({ max: 4, use: "stock of a run", url, onIdleLoss });
    return new SeparateDatabase({ postgres: withCommit(url, parseSynchronousCommit(process.env)) }, pool);
  }

  /** Copies the row to sell, and waits until replicas have it. */
  async receive({ kind, id }: StockTarget): Promise<void> {
    const { stock: table } = stockTables(kind);
    const { rows } = await postgresPool().query(`SELECT to_jsonb(t) AS copy FROM ${table} t WHERE id = $1`, [id]);
    const client = await this.pool.connect();
    try {
      await client.query("BEGIN; SET LOCAL synchronous_commit = remote_apply");
      await client.query(`INSERT INTO ${table} SELECT * FROM jsonb_populate_record(NULL::${table}, $1)`, [
        rows[0]?.copy,
      ]);
      await client.query("COMMIT");
    } finally {
      client.release(true);
    }
  }

  async read<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
    try {
      return await work(this.pool);
    } catch (error) {
      throw isLostDatabase(error) ? unreadable("it does not answer") : error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pool.end();
  }
}

/** For a run that another process opened: the database ended with that process. */
export const endedDatabase: StockDatabase = {
  isSeparate: true,
  read: () => Promise.reject(unreadable("it ended with the process that opened the run")),
};

/** Neither message nor cause may look like an outage of the lab's database, after which the lab retries without limit. */
function unreadable(reason: string): Error {
  return new Error(`the database that the run sold on cannot be read: ${reason}`);
}

/** The address of a database whose sessions commit like this. */
function withCommit(url: string, synchronousCommit: string): string {
  const address = new URL(url);
  address.searchParams.set("options", `-c synchronous_commit=${synchronousCommit}`);
  return address.href;
}
