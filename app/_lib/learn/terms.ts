/** The terms of the chapters, as short as they can stand beside a paragraph. docs/glossary.md has all terms. */

export interface Term {
  /** Matches the term and its inflections. */
  readonly pattern: RegExp;
  readonly definition: string;
}

export const TERMS: Readonly<Record<string, Term>> = {
  "critical section": {
    pattern: /critical sections?/i,
    definition: "The steps that only one purchase at a time may run: read the stock, work, write the stock.",
  },
  "lost update": {
    pattern: /lost updates?/i,
    definition: "A write that erases another write, because both were computed from the same earlier value.",
  },
  oversold: {
    pattern: /\bovers(old|ells?)\b/i,
    definition: "More units are ordered than were in stock.",
  },
  mutex: {
    pattern: /\bmutex(es)?\b/i,
    definition: "A lock inside one process. One task has it, and the other tasks of this process wait.",
  },
  "store node": {
    pattern: /store nodes?/i,
    definition: "One server process of the shop. A lab usually has three.",
  },
  holder: {
    pattern: /\bholders?\b/i,
    definition: "The purchase that has the lock.",
  },
  waiter: {
    pattern: /\bwaiters?\b/i,
    definition: "A purchase that waits for the lock.",
  },
  expiry: {
    pattern: /\bexpir(y|es|ed)\b/i,
    definition: "A time after which the server deletes the key by itself.",
  },
  lease: {
    pattern: /\bleases?\b/i,
    definition: "A lock that ends after a set time, also if nothing releases it.",
  },
  renew: {
    pattern: /\brenew(s|ed|al)?\b/i,
    definition: "To extend a lock to its full length again while the work goes on.",
  },
  "stale write": {
    pattern: /stale writes?/i,
    definition: "A write by a purchase that no longer has the lock.",
  },
  "fencing token": {
    pattern: /fencing tokens?/i,
    definition:
      "A number that rises with every grant of the lock. The database refuses a write whose number is lower than one it has seen.",
  },
  master: {
    pattern: /\bmasters?\b/i,
    definition: "The Redis server that takes all writes.",
  },
  replica: {
    pattern: /\breplicas?\b/i,
    definition: "A Redis server that receives a copy of each write.",
  },
  Sentinel: {
    pattern: /\bSentinels?\b/i,
    definition: "A process that watches Redis servers. A majority of them decides which one takes the writes.",
  },
  failover: {
    pattern: /\bfailovers?\b/i,
    definition: "Another server takes over from one that stopped.",
  },
  asynchronous: {
    pattern: /\basynchronous(ly)?\b/i,
    definition: "The answer does not wait for the copy.",
  },
  Redlock: {
    pattern: /\bRedlock\b/i,
    definition: "The algorithm that Redis documents for a lock on several independent servers.",
  },
  quorum: {
    pattern: /\bquorums?\b/i,
    definition: "More than half of the servers: three of five.",
  },
  "wall clock": {
    pattern: /\bwall clocks?\b/i,
    definition: "The time of day as a computer has it. It can be set, so it can jump.",
  },
  consensus: {
    pattern: /\bconsensus\b/i,
    definition: "The servers agree on one order of all changes, and a majority stores each change before the answer.",
  },
};
