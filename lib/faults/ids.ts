/** Separate from the faults, so that a browser can import the ids without them. */
export const FAULT_IDS = [
  "pause-holder",
  "slow-work",
  "kill-holder",
  "store-node-crash",
  "kill-between-setnx-expire",
  "memcached-flush",
  "redis-restart",
  "redlock-node-restart",
  "clock-jump",
  "session-expiry",
  "pg-disconnect",
  "latency",
  "bandwidth",
  "slicer",
  "timeout",
  "reset_peer",
  "down",
  "commit-reply-lost",
] as const;
export type FaultId = (typeof FAULT_IDS)[number];
