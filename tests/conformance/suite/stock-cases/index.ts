import type { StockCase } from "../case";
import { lostServer } from "./lost-server";
import { neverMoreThanTheStock, oneCouponEach } from "./sale";
import { truthfulTrace } from "./trace";

/** What every strategy of the shop promises, be it a lock or one atomic operation. */
export const stockCases: readonly StockCase[] = [neverMoreThanTheStock, oneCouponEach, truthfulTrace, lostServer];
