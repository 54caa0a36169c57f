import type { RunnerDependencies } from "../../lib/locks/runner-context";
import type { LockStrategy } from "../../lib/locks/types";
import type { SimServer } from "../servers/sim-server";
import type { Link, Weather } from "../world/network";
import type { SimProcess } from "../world/process";
import type { World } from "../world/world";

/**
 * `benign`: everything that a lease must survive by itself. `pause`: pauses, partitions and writes on the wire that
 * outlast it. `amnesia`: a server loses its data, or its clock jumps.
 */
export const PROFILES = ["benign", "pause", "amnesia"] as const;
export type Profile = (typeof PROFILES)[number];

/** What servers and links of one world can be made to suffer. */
export interface Cluster {
  readonly servers: readonly SimServer[];
  /** A strategy for a process, over links of its own. */
  open(process: SimProcess, dependencies: RunnerDependencies): OpenedLock;
  /** Holds, waiters and leases that the servers still keep once everybody has gone. Empty: nothing was left behind. */
  leftovers?(): readonly string[];
}

export interface OpenedLock {
  readonly lock: LockStrategy;
  readonly links: readonly Link[];
  /** After the lock itself: what it was given. */
  close?(): Promise<void>;
}

/** The sizes of one world, drawn from its seed. */
export interface Scale {
  readonly ttlMs: number;
  readonly weather: Weather;
}

export interface SimStrategy {
  readonly id: string;
  /** Lease lengths to draw from. */
  readonly ttlsMs: readonly [number, ...number[]];
  /** Longest time a hold outlives its holder: what a crash costs the next caller. */
  freedAfterMs(ttlMs: number): number;
  /** Whether a fencing token guards the row. */
  readonly isFenced: boolean;
  build(world: World, scale: Scale): Cluster;
}
