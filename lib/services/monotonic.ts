import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** Nanoseconds of the host's monotonic clock. On Linux all processes of a host share it. */
export function nowNs(): bigint {
  return process.hrtime.bigint();
}

/** Fractional milliseconds between two readings. */
export function elapsedMs(fromNs: bigint, toNs: bigint = nowNs()): number {
  return Number(toNs - fromNs) / 1e6;
}

/**
 * Identifies the clock that `nowNs` reads: readings with equal names can be compared. Containers of one Linux machine share
 * its clock but not its host name, so on Linux the name is the boot ID of the kernel.
 */
export function clockName(): string {
  try {
    return `boot-${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8)}`;
  } catch {
    return hostname();
  }
}
