/** Nanoseconds of the host's monotonic clock; on Linux one clock for every process of the host. */
export function nowNs(): bigint {
  return process.hrtime.bigint();
}

/** Milliseconds, fractional, between two readings. */
export function elapsedMs(fromNs: bigint, toNs: bigint = nowNs()): number {
  return Number(toNs - fromNs) / 1e6;
}
