/** In ascending order. */
export function sorted(values: readonly number[]): Float64Array {
  return Float64Array.from(values).sort();
}

/** The smallest value that is not exceeded by this share of the values; null if there are none. */
export function quantile(ascending: Float64Array, share: number): number | null {
  return ascending[Math.ceil(share * ascending.length) - 1] ?? null;
}
