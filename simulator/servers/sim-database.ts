import type { Pool, PoolClient } from "pg";
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
    const client = {
      query: (query: Query) => this.#query(process, query),
      release: () => {},
    } as unknown as PoolClient;
    return { connect: async () => client } as unknown as Pool;
  }

  ordersOf(opId: string): number {
    return this.orders.filter((order) => order.opId === opId).length;
  }

  #query(process: SimProcess, { name, values, query_timeout: limitMs }: Query): Promise<{ rows: readonly Row[] }> {
    const world = this.#world;
    const { random } = world;
    const { slowestMs, breakChance, stallChance, longestStallMs } = this.#conditions;
    const roll = random.fraction();
    const delayMs = () => (random.chance(0.9) ? random.between(0.2, 2) : random.between(0.2, slowestMs));
    const requestMs = delayMs() + (random.chance(stallChance) ? random.between(0, longestStallMs) : 0);
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
      if (roll < breakChance / 2) return fail(requestMs, "Connection terminated unexpectedly");
      if (requestMs > limitMs / 2) fail(limitMs, "Query read timeout");
      world.schedule({
        afterMs: requestMs,
        run: () => {
          const row = this.#execute(name, values, process.name);
          if (roll < breakChance) return fail(delayMs(), "Connection terminated unexpectedly");
          settle(delayMs(), () => resolve({ rows: row ? [row] : [] }));
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
