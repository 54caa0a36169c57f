import type { Pool } from "pg";
import { type CancelStatement, SETTLE_LIMIT_MS } from "../../lib/stock/settle-statement";
import { MIN_STATEMENT_MS } from "../../lib/stock/stock-store";
import type { SimProcess } from "../world/process";
import type { World } from "../world/world";

export interface DatabaseConditions {
  /** Longest delay of a statement or of its result, without a stall. */
  readonly slowestMs: number;
  /** Per statement: the probability that the connection breaks before the statement or its result arrives. */
  readonly breakChance: number;
  /** Per statement: the probability that it is delayed by up to `longestStallMs`. */
  readonly stallChance: number;
  readonly longestStallMs: number;
  /** Per write without a fencing token: the probability that it takes effect only after the client's limit. */
  readonly lateChance: number;
  /** Half of the cancel requests for late writes are lost. Such a write takes effect at most this long after the client gave up. */
  readonly longestInFlightMs: number;
}

/** Where the database checks the fencing token. `write`: at the write only, not at the read. */
export type FenceCheck = "read-and-write" | "write" | "nowhere";

interface Query {
  readonly name: string;
  readonly values: readonly unknown[];
  readonly query_timeout: number;
}

export interface SimOrder {
  readonly orderId: string;
  readonly buyerId: string;
  readonly opId: string;
  readonly quantity: number;
}

/** A connection runs one statement at a time. */
interface SimClient {
  /** Cancels the statement; without effect once it has been executed. False: the cancel request is lost. */
  cancel: (() => void) | false;
}

/** A write that waits on the server longer than the client does. */
interface Late {
  readonly executedAfterMs: number;
  readonly isCancelLost: boolean;
}

interface Row {
  readonly stock?: number;
  readonly version?: number;
  readonly order_id?: string;
}

/**
 * One hot row and its orders. Executes the statements of lib/stock/stock-sql.ts that a lock needs; `StockStore` uses it in place
 * of pg's pool.
 */
export class SimDatabase {
  readonly #world: World;
  readonly #conditions: DatabaseConditions;
  readonly #fenceCheck: FenceCheck;
  readonly initialStock: number;
  readonly orders: SimOrder[] = [];
  stock: number;
  #fence = 0n;
  #version = 0;
  lostUpdates = 0;

  constructor(
    world: World,
    conditions: DatabaseConditions,
    row: { readonly stock: number; readonly fence: FenceCheck },
  ) {
    this.#world = world;
    this.#conditions = conditions;
    this.#fenceCheck = row.fence;
    this.initialStock = row.stock;
    this.stock = row.stock;
  }

  poolFor(process: SimProcess): Pool {
    const connect = async () => {
      const client: SimClient = { cancel: () => {} };
      const query = (sent: Query) => this.#query(process, sent, client);
      return Object.assign(client, { query, release: () => {} });
    };
    return { connect } as unknown as Pool;
  }

  /** Takes the place of a cancel request on a second connection. */
  readonly cancel: CancelStatement = async (client, clock, limitMs) => {
    const connection = client as unknown as SimClient;
    await clock.sleep(connection.cancel ? this.#delayMs() : limitMs);
    if (connection.cancel) connection.cancel();
  };

  ordersOf(opId: string): number {
    return this.orders.filter((order) => order.opId === opId).length;
  }

  #delayMs(): number {
    const { random } = this.#world;
    return random.chance(0.9) ? random.between(0.2, 2) : random.between(0.2, this.#conditions.slowestMs);
  }

  /** @returns null if the statement is not late */
  #drawLate(name: string): Late | null {
    const { random } = this.#world;
    const { lateChance, longestInFlightMs } = this.#conditions;
    if (name !== "product_writeAbsolute" || !random.chance(lateChance)) return null;
    const isCancelLost = random.chance(0.5);
    const givenUpMs = MIN_STATEMENT_MS + SETTLE_LIMIT_MS;
    const executedAfterMs = isCancelLost
      ? givenUpMs + random.between(-longestInFlightMs, longestInFlightMs)
      : MIN_STATEMENT_MS + random.between(0, 2 * MIN_STATEMENT_MS);
    return { executedAfterMs, isCancelLost };
  }

  #query(process: SimProcess, query: Query, client: SimClient): Promise<{ rows: readonly Row[] }> {
    const { name, values, query_timeout: limitMs } = query;
    const world = this.#world;
    const { random } = world;
    const { breakChance, stallChance, longestStallMs } = this.#conditions;
    const roll = random.fraction();
    const late = this.#drawLate(name);
    const stallMs = random.chance(stallChance) ? random.between(0, longestStallMs) : 0;
    const requestMs = late ? late.executedAfterMs : this.#delayMs() + stallMs;
    return new Promise((resolve, reject) => {
      let isSettled = false;
      const settle = (afterMs: number, act: () => void) =>
        world.schedule({
          afterMs,
          process,
          run: () => {
            if (isSettled) return;
            isSettled = true;
            act();
          },
        });
      const fail = (afterMs: number, why: string) => settle(afterMs, () => reject(new Error(why)));
      let isCancelled = false;
      const cancel = () => {
        isCancelled = true;
        settle(this.#delayMs(), () => reject(cancelled()));
      };
      client.cancel = late?.isCancelLost ? false : cancel;
      if (roll < breakChance / 2) return fail(requestMs, "Connection terminated unexpectedly");
      if (requestMs > limitMs / 2) fail(limitMs, "Query read timeout");
      world.schedule({
        afterMs: requestMs,
        run: () => {
          // No lock can order a write after the lease of its crashed holder. Here, the crash ends the statement.
          if (isCancelled || (late && process.isCrashed)) return;
          client.cancel = () => {};
          const row = this.#execute(name, values, process.name);
          if (roll < breakChance) return fail(this.#delayMs(), "Connection terminated unexpectedly");
          settle(this.#delayMs(), () => resolve({ rows: row ? [row] : [] }));
        },
      });
    });
  }

  #execute(name: string, values: readonly unknown[], by: string): Row | null {
    const token = values[name === "product_readFenced" ? 1 : 8] as bigint | undefined;
    switch (name) {
      case "product_read":
        this.#world.trace(() => `database: ${by} reads ${this.stock}`);
        return { stock: this.stock, version: this.#version };
      case "product_readFenced":
        return this.#readFenced(token ?? 0n, by);
      case "product_writeAbsolute":
        return this.#write(values, by);
      case "product_writeFenced":
        if (this.#fenceCheck === "write" && token !== undefined && token > this.#fence) this.#fence = token;
        if (token !== this.#fence) {
          this.#world.trace(() => `database: rejects ${by}: token ${token} is not ${this.#fence}`);
          return null;
        }
        return this.#write(values, by);
      default:
        throw new Error(`The simulated database has no model of the statement ${name}. Add it to SimDatabase.`);
    }
  }

  #readFenced(token: bigint, by: string): Row | null {
    if (this.#fenceCheck === "read-and-write" && this.#fence > token) {
      this.#world.trace(() => `database: rejects ${by}: token ${token} is older than ${this.#fence}`);
      return null;
    }
    if (this.#fenceCheck === "read-and-write") this.#fence = token;
    this.#world.trace(() => `database: ${by} reads ${this.stock} with token ${token}`);
    return { stock: this.stock };
  }

  #write([, value, buyerId, quantity, opId]: readonly unknown[], by: string): Row {
    const written = Number(value);
    const isLost = written !== this.stock - Number(quantity);
    this.#world.trace(() => `database: ${by} writes ${written} over ${this.stock}${isLost ? ", a lost update" : ""}`);
    if (isLost) this.lostUpdates += 1;
    this.stock = written;
    this.#version += 1;
    const orderId = String(this.orders.length + 1);
    this.orders.push({ orderId, buyerId: String(buyerId), opId: String(opId), quantity: Number(quantity) });
    return { order_id: orderId };
  }
}

function cancelled(): Error {
  return Object.assign(new Error("canceling statement due to user request"), { severity: "ERROR", code: "57014" });
}
