import { isLockError } from "../locks/errors";
import type { MemcachedCommands } from "../locks/memcached/memcached-port";
import { log } from "../services/log";
import type { MemcachedCounter } from "./memcached-counter";
import { MemcachedJournal } from "./memcached-journal";
import type { JournalEntry } from "./redis-journal";
import { resourceOf, type StockTarget } from "./types";

/** Maximum number of journals in the memory of a process. */
const MAX_JOURNALS = 256;

export interface JournalWriterParts {
  readonly client: MemcachedCommands;
  readonly strategyId: string;
  /** The store node that owns the entries. */
  readonly node: string;
}

/** Adds and removes the journal entries of one store node. */
export class JournalWriter {
  readonly #parts: JournalWriterParts;
  /** One journal per target that this process has sold. */
  readonly #journals = new Map<string, MemcachedJournal>();
  #hasWarned = false;

  constructor(parts: JournalWriterParts) {
    this.#parts = parts;
  }

  journalOf(target: StockTarget): MemcachedJournal {
    const resource = resourceOf(target);
    const known = this.#journals.get(resource);
    if (known) return known;
    const journal = new MemcachedJournal(this.#parts.client, resource, this.#parts.node);
    const [oldest] = this.#journals.keys();
    // If a dropped journal is needed again, it is read from the server.
    if (oldest !== undefined && this.#journals.size >= MAX_JOURNALS) this.#journals.delete(oldest);
    this.#journals.set(resource, journal);
    return journal;
  }

  /** Called before the counter changes. @throws {LockError} when the entry may not be on the server */
  async add(counter: MemcachedCounter, take: Omit<JournalEntry, "takenAtEpochMs">): Promise<void> {
    const { opId, quantity, buyerId } = take;
    const added = this.journalOf(counter.target).add({ opId, quantity, buyerId, takenAtEpochMs: Date.now() });
    await counter.withTypedErrors(added, "nothing was taken off the counter");
  }

  /** Runs `work`. After a definite failure it removes the entry. The entry stays if the order or the counter may have changed. */
  async removingOnDefiniteFailure<T>(target: StockTarget, opId: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isLockError(error) || (error.isDefinite && !error.mayBeInFlight)) await this.remove(target, opId);
      throw error;
    }
  }

  remove(target: StockTarget, opId: string): Promise<void> {
    return this.bestEffort(this.journalOf(target).remove([opId]));
  }

  /** Ignores a failure, because `reconcile` finds an entry that stays and a unit that was not given back. */
  async bestEffort(work: Promise<unknown>): Promise<void> {
    try {
      await work;
      this.#hasWarned = false;
    } catch (error) {
      if (!this.#hasWarned)
        log().warn(
          { strategy: this.#parts.strategyId, reason: (error as Error).message },
          "journal or counter could not be updated; reconcile will repair it",
        );
      this.#hasWarned = true;
    }
  }
}
