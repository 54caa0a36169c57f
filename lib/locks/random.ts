import { randomBytes } from "node:crypto";

/** The library's random source. A simulator injects a seeded one. */
export interface RandomSource {
  /** Uniform in [0, 1). Used for backoff jitter. */
  fraction(): number;
  /** `length` random hex digits, used for holder ids. `systemRandom` returns unguessable ones. */
  hex(length: number): string;
}

export const systemRandom: RandomSource = {
  fraction: () => Math.random(),
  hex: (length) =>
    randomBytes(Math.ceil(length / 2))
      .toString("hex")
      .slice(0, length),
};

/** A version 4 UUID from the injected source, for protocols that require dashes. */
export function uuidFrom(random: RandomSource): string {
  const hex = random.hex(32);
  const variant = "89ab"[Number.parseInt(hex.charAt(16), 16) % 4];
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join("-");
}
