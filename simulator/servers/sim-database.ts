import type { Pool, PoolClient } from "pg";
import type { SimProcess } from "../world/process";
import type { World } from "../world/world";

export interface DatabaseWeather {
  /** Longest way of a statement, and of its answer. */
  readonly slowestMs: number;
  /** Of each statement: the connection breaks on the way there, or on the way back. */
  readonly breakChance: number;
  /** Of each statement: it stays on the wire for up to `longestStallMs`. */
  readonly stallChance: number;
  readonly longestStallMs: number;
}

/** `nowhere`: tokens are left out. `write`: checked when the stock is written, and not when it is read. */
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
 * One hot row and its orders, with the statements of lib/stock/stock-sql.ts that a lock needs. `StockStore` runs over it
 * as over pg's pool.
 */
export class SimDatabase {
  readonly #world: World;
  readonly #weather: DatabaseWeather;
  readonly #fenceCheck: FenceCheck;
  readonly initialStock: number;
  readonly orders: SimOrder[] = [];
  stock: number;
  #fence = 0n;
  #version = 0;
  lostUpdates = 0;

  constructor(world: World, weather: DatabaseWeather, row: { readonly stock: number; readonly fence: FenceCheck }) {
    this.#world = world;
    this.#weather = weather;
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
    const { slowestMs, breakChance, stallChance, longestStallMs } = this.#weather;
    const fate = random.fraction();
    const delayMs = () => (random.chance(0.9) ? random.between(0.2, 2) : random.between(0.2, slowestMs));
    const thereMs = delayMs() + (random.chance(stallChance) ? random.between(0, longestStallMs) : 0);
    return new Promise((resolve, reject) => {
      let isOver = false;
      const settle = (afterMs: number, act: () => void) =>
        world.schedule({
          afterMs,
          process,
          run: () => {
            if (isOver) return;
            isOver = true;
            act();
          },
        });
      const lose = (afterMs: number, why: string) => settle(afterMs, () => reject(new Error(why)));
      if (fate < breakChance / 2) return lose(thereMs, "Connection terminated unexpectedly");
      if (thereMs > limitMs / 2) lose(limitMs, "Query read timeout");
      world.schedule({
        afterMs: thereMs,
        run: () => {
          const row = this.#execute(name, values, process.name);
          if (fate < breakChance) return lose(delayMs(), "Connection terminated unexpectedly");
          settle(delayMs(), () => resolve({ rows: row ? [row] : [] }));
        },
      });
    });
  }

  #execute(name: string, values: readonly unknown[], by: string): Row | null {
    const token = values[name === "product_readFenced" ? 1 : 8] as bigint | undefined;
    switch (name) {
      case "product_read":
        this.#world.say(() => `database: ${by} reads ${this.stock}`);
        return { stock: this.stock, version: this.#version };
      case "product_readFenced":
        return this.#readFenced(token ?? 0n, by);
      case "product_writeAbsolute":
        return this.#write(values, by);
      case "product_writeFenced":
        if (this.#fenceCheck === "write" && token !== undefined && token > this.#fence) this.#fence = token;
        if (token !== this.#fence) {
          this.#world.say(() => `database: refuses ${by}, token ${token} is not ${this.#fence}`);
          return null;
        }
        return this.#write(values, by);
      default:
        throw new Error(`the simulator knows no statement ${name}`);
    }
  }

  #readFenced(token: bigint, by: string): Row | null {
    if (this.#fenceCheck === "read-and-write" && this.#fence > token) {
      this.#world.say(() => `database: refuses ${by}, token ${token} is below ${this.#fence}`);
      return null;
    }
    if (this.#fenceCheck === "read-and-write") this.#fence = token;
    this.#world.say(() => `database: ${by} reads ${this.stock} with token ${token}`);
    return { stock: this.stock };
  }

  #write([, value, buyerId, quantity, opId]: readonly unknown[], by: string): Row {
    const written = Number(value);
    const isLost = written !== this.stock - Number(quantity);
    this.#world.say(() => `database: ${by} writes ${written} over ${this.stock}${isLost ? ", a lost update" : ""}`);
    if (isLost) this.lostUpdates += 1;
    this.stock = written;
    this.#version += 1;
    const orderId = String(this.orders.length + 1);
    this.orders.push({ orderId, buyerId: String(buyerId), opId: String(opId), quantity: Number(quantity) });
    return { order_id: orderId };
  }
}
