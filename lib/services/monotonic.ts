import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** Nanoseconds of the host's monotonic clock; on Linux one clock for every process of the host. */
export function nowNs(): bigint {
  return process.hrtime.bigint();
}

/** Milliseconds, fractional, between two readings. */
export function elapsedMs(fromNs: bigint, toNs: bigint = nowNs()): number {
  return Number(toNs - fromNs) / 1e6;
}

/**
 * Names the clock that `nowNs` reads: readings under equal names compare. Containers of one Linux machine share its
 * clock, whatever they call themselves, so there the name is that of the running kernel.
 */
export function clockName(): string {
  try {
    return `boot-${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8)}`;
  } catch {
    return hostname();
  }
}
