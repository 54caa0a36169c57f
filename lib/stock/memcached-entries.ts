import { isLockError } from "../locks/errors";
import type { MemcachedCommands } from "../locks/memcached/memcached-port";
import { log } from "../services/log";
import type { MemcachedCounter } from "./memcached-counter";
import { MemcachedJournal } from "./memcached-journal";
import type { JournalEntry } from "./redis-journal";
import { resourceOf, type StockTarget } from "./types";

/** Targets whose journal a process keeps at hand. */
const MAX_JOURNALS = 256;

export interface MemcachedEntriesParts {
  readonly client: MemcachedCommands;
  readonly strategyId: string;
  /** Whose entries these are. */
  readonly node: string;
}

/** What a node enters into the journals of its targets, and strikes again. */
export class MemcachedEntries {
  readonly #parts: MemcachedEntriesParts;
  /** One a target this process has sold. */
  readonly #journals = new Map<string, MemcachedJournal>();
  #saidUnsettled = false;

  constructor(parts: MemcachedEntriesParts) {
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
  async enter(counter: MemcachedCounter, take: Omit<JournalEntry, "takenAtEpochMs">): Promise<void> {
    const { opId, quantity, buyerId } = take;
    const entered = this.journalOf(counter.target).enter({ opId, quantity, buyerId, takenAtEpochMs: Date.now() });
    await counter.asked(entered, "nothing was taken");
  }

  /** Work that failed for certain leaves no entry; of one whose outcome is not known it stays. */
  async striking<T>(target: StockTarget, opId: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isLockError(error) || error.isDefinite) await this.strike(target, opId);
      throw error;
    }
  }

  strike(target: StockTarget, opId: string): Promise<void> {
    return this.leaveToReconcile(this.journalOf(target).strike([opId]));
  }

  /** Nobody's answer hangs on it: an entry that stays, or a unit that is not given back, is found by `reconcile`. */
  async leaveToReconcile(work: Promise<unknown>): Promise<void> {
    try {
      await work;
      this.#saidUnsettled = false;
    } catch (error) {
      if (!this.#saidUnsettled)
        log().warn(
          { strategy: this.#parts.strategyId, reason: (error as Error).message },
          "something is left to reconcile",
        );
      this.#saidUnsettled = true;
    }
  }
}
