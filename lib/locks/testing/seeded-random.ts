import type { RandomSource } from "../random";

/** Returns the same sequence for the same seed (mulberry32). Not for secrets. */
export function seededRandom(seed: number): RandomSource {
  let state = seed >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const hex = (length: number) => Array.from({ length }, () => Math.floor(fraction() * 16).toString(16)).join("");
  return { fraction, hex };
}
