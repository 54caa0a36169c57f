import fc from "fast-check";
import type { CounterSaleOptions } from "./simulation/counter-sale";
import type { LockSaleOptions } from "./simulation/lock-sale";

/** Random options for simulated sales, small enough that thousands of sales run in a second. */

export const seeds = fc.nat(2 ** 31 - 1);
const buyers = fc.integer({ min: 4, max: 40 });
const initial = fc.nat(25);
const failureRate = fc.constantFrom(0, 0.1, 0.5);
const maxQuantity = fc.integer({ min: 1, max: 3 });

export const lockSales = fc.record<LockSaleOptions>({
  seed: seeds,
  buyers,
  initial,
  hosts: fc.integer({ min: 1, max: 3 }),
  fenced: fc.boolean(),
  failureRate,
  maxQuantity,
  scale: fc.constantFrom(1, 3, 1_000),
});

export const counterSales = fc.record<CounterSaleOptions>({
  seed: seeds,
  buyers,
  initial,
  failureRate,
  recordsValues: fc.boolean(),
  maxQuantity,
  maxDelay: fc.constantFrom(3, 20, 1_000),
});
