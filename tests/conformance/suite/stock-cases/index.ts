import type { StockCase } from "../case";
import { lostServer } from "./lost-server";
import { neverOversells, oneCouponEach } from "./sale";
import { consistentTrace } from "./trace";

/** The cases for every strategy of the shop: locks and atomic operations. */
export const stockCases: readonly StockCase[] = [neverOversells, oneCouponEach, consistentTrace, lostServer];
