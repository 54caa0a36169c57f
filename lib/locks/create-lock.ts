import * as catalogue from "./all-locks";
import { LockError } from "./errors";
import type { LockDependencies, LockEntry } from "./lock-entry";
import type { LockStrategy } from "./types";

export type { LockDependencies, LockEntry } from "./lock-entry";

const entries: readonly LockEntry[] = Object.values(catalogue);

/** Every lock, id to traits and factory. */
export const lockEntries: ReadonlyMap<string, LockEntry> = new Map(entries.map((entry) => [entry.traits.id, entry]));

/** @throws {LockError} `config_invalid` for an unknown id, naming the valid ones */
export function createLock(id: string, dependencies: LockDependencies): LockStrategy {
  const entry = lockEntries.get(id);
  if (entry) return entry.create(dependencies);
  const message = `there is no such strategy; valid ids: ${[...lockEntries.keys()].join(", ")}`;
  throw new LockError({ code: "config_invalid", strategyId: id, resource: "-", message, isDefinite: true });
}
