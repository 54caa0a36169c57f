import { randomInt } from "node:crypto";

const MAX_SEED = 2 ** 31 - 1;

/**
 * The seed of every random test in a run, so that a failure can be repeated: `PROPERTY_SEED`, else a random one.
 * @throws Error if PROPERTY_SEED is set but is not a seed
 */
export function readPropertySeed(given = process.env.PROPERTY_SEED): number {
  if (given === undefined || given === "") return randomInt(MAX_SEED);
  const seed = Number(given);
  // fast-check's own seeds can be negative.
  if (/^-?\d+$/.test(given) && Math.abs(seed) <= MAX_SEED) return seed;
  throw new Error(`PROPERTY_SEED must be a whole number from -${MAX_SEED} to ${MAX_SEED}, not "${given}"`);
}
