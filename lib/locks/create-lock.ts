import * as allLocks from "./all-locks";
import { LockError } from "./errors";
import type { LockDependencies, LockEntry } from "./lock-entry";
import type { LockStrategy } from "./types";

export type { LockDependencies, LockEntry } from "./lock-entry";

const entries: readonly LockEntry[] = Object.values(allLocks);

/** Maps each lock id to its traits and factory. */
export const lockEntries: ReadonlyMap<string, LockEntry> = new Map(entries.map((entry) => [entry.traits.id, entry]));

/** @throws {LockError} `config_invalid` for an unknown id; the message lists the valid ids */
export function createLock(id: string, dependencies: LockDependencies): LockStrategy {
  const entry = lockEntries.get(id);
  if (entry) return entry.create(dependencies);
  const message = `unknown strategy; valid ids: ${[...lockEntries.keys()].join(", ")}`;
  throw new LockError({ code: "config_invalid", strategyId: id, resource: "-", message, isDefinite: true });
}
