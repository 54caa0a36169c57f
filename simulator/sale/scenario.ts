import type { RunnerDependencies } from "../../lib/locks/runner-context";
import type { LockStrategy } from "../../lib/locks/types";
import type { SimServer } from "../servers/sim-server";
import type { Link, NetworkConditions } from "../world/network";
import type { SimProcess } from "../world/process";
import type { World } from "../world/world";

/**
 * `benign`: faults that a lease must tolerate without a fencing token. `pause`: pauses, partitions and delayed writes that
 * outlast the lease. `amnesia`: a server also loses its data, or its clock jumps.
 */
export const PROFILES = ["benign", "pause", "amnesia"] as const;
export type Profile = (typeof PROFILES)[number];

/** The lock servers of one world. */
export interface Cluster {
  readonly servers: readonly SimServer[];
  /** Opens the strategy for a process, over separate links. */
  open(process: SimProcess, dependencies: RunnerDependencies): OpenedLock;
  /** Whether the servers store a lock of the process: a majority of them, if there are several. */
  storesLockOf?(process: SimProcess): boolean;
}

export interface OpenedLock {
  readonly lock: LockStrategy;
  readonly links: readonly Link[];
  /** Closes the client that the lock was given. Called after the disposal of the lock. */
  close?(): Promise<void>;
}

/** Settings of one world, drawn from its seed. */
export interface WorldSettings {
  readonly ttlMs: number;
  readonly conditions: NetworkConditions;
  /** What every process locks. */
  readonly resource: string;
}

export interface SimStrategy {
  readonly id: string;
  /** Lease lengths; the seed picks one. */
  readonly ttlsMs: readonly [number, ...number[]];
  /** Longest time from the crash of a holder until the next caller can get the lock. */
  maxHoldAfterCrashMs(ttlMs: number): number;
  /** Whether the database checks a fencing token. */
  readonly isFenced: boolean;
  build(world: World, scale: WorldSettings): Cluster;
}
