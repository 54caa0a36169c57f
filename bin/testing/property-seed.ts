import { randomInt } from "node:crypto";

const MOST = 2 ** 31 - 1;

/**
 * The one seed that every random test of a run draws from, so that a failure can be had again: `PROPERTY_SEED`, else a new one.
 * @throws Error when PROPERTY_SEED is set and is no seed
 */
export function readPropertySeed(given = process.env.PROPERTY_SEED): number {
  if (given === undefined || given === "") return randomInt(MOST);
  const seed = Number(given);
  // fast-check draws negative ones too, where nobody gives it any.
  if (/^-?\d+$/.test(given) && Math.abs(seed) <= MOST) return seed;
  throw new Error(`PROPERTY_SEED is a whole number from -${MOST} to ${MOST}, not "${given}"`);
}
