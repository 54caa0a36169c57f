import { isLockError } from "../locks/errors";
import type { MemcachedCommands } from "../locks/memcached/memcached-port";
import { log } from "../services/log";
import type { MemcachedCounter } from "./memcached-counter";
import { MemcachedJournal } from "./memcached-journal";
import type { JournalEntry } from "./redis-journal";
import { resourceOf, type StockTarget } from "./types";

/** Targets whose journal a process keeps at hand. */
const MAX_JOURNALS = 256;

export interface JournalWriterParts {
  readonly client: MemcachedCommands;
  readonly strategyId: string;
  /** Whose entries these are. */
  readonly node: string;
}

/** What a node enters into the journals of its targets, and strikes again. */
export class JournalWriter {
  readonly #parts: JournalWriterParts;
  /** One a target this process has sold. */
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
    // A forgotten one is read again from the server when it is needed.
    if (oldest !== undefined && this.#journals.size >= MAX_JOURNALS) this.#journals.delete(oldest);
    this.#journals.set(resource, journal);
    return journal;
  }

  /** Before the counter is touched. @throws {LockError} when the entry is not known to be on the server */
  async add(counter: MemcachedCounter, take: Omit<JournalEntry, "takenAtEpochMs">): Promise<void> {
    const { opId, quantity, buyerId } = take;
    const added = this.journalOf(counter.target).add({ opId, quantity, buyerId, takenAtEpochMs: Date.now() });
    await counter.withTypedErrors(added, "nothing was taken");
  }

  /** Work that failed for certain leaves no entry; of one whose outcome is not known it stays. */
  async removingOnDefiniteFailure<T>(target: StockTarget, opId: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isLockError(error) || error.isDefinite) await this.remove(target, opId);
      throw error;
    }
  }

  remove(target: StockTarget, opId: string): Promise<void> {
    return this.bestEffort(this.journalOf(target).remove([opId]));
  }

  /** Nobody's answer hangs on it: an entry that stays, or a unit that is not given back, is found by `reconcile`. */
  async bestEffort(work: Promise<unknown>): Promise<void> {
    try {
      await work;
      this.#hasWarned = false;
    } catch (error) {
      if (!this.#hasWarned)
        log().warn(
          { strategy: this.#parts.strategyId, reason: (error as Error).message },
          "something is left to reconcile",
        );
      this.#hasWarned = true;
    }
  }
}
