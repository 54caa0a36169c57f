import type { RandomSource } from "../../lib/locks/random";

/** Hex text of every 16-bit number. Precomputed because every acquire draws a holder ID. */
const SHORT_HEX = Array.from({ length: 0x1_0000 }, (_, number) => number.toString(16).padStart(4, "0"));

/** A world's only random source (mulberry32): the same seed gives the same world. Not for secrets. */
export class Prng implements RandomSource {
  #state: number;

  constructor(seed: number) {
    // Mix the seed, so that consecutive seeds give unrelated sequences.
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
    this.fraction();
    this.fraction();
  }

  fraction(): number {
    return this.#next() / 2 ** 32;
  }

  hex(length: number): string {
    let text = "";
    while (text.length < length) {
      const next = this.#next();
      text += `${SHORT_HEX[next >>> 16]}${SHORT_HEX[next & 0xffff]}`;
    }
    return text.slice(0, length);
  }

  /** Uniform in [from, to). */
  between(from: number, to: number): number {
    return from + this.fraction() * (to - from);
  }

  /** A uniform integer in [from, to]. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.fraction() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[Math.floor(this.fraction() * choices.length)] ?? choices[0];
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
}
