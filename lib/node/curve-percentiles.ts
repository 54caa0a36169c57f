const POINTS_PER_DECADE = 8;
/** Up to 99.99 %. */
const DECADES = 4;

/**
 * The percentiles at which load generators report their latency distribution: evenly spaced on the logarithmic axis,
 * plus the two that tables show. load-tests/lib/report.js has the same list.
 */
export const CURVE_PERCENTILES: readonly number[] = [
  ...Array.from({ length: DECADES * POINTS_PER_DECADE + 1 }, (_, index) =>
    Number((100 * (1 - 10 ** (-index / POINTS_PER_DECADE))).toFixed(4)),
  ),
  50,
  95,
].sort((a, b) => a - b);
