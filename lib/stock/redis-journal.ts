/** A unit that left the counter, for an order that is on its way. Kept as `quantity:takenAtEpochMs:buyerId`. */
export interface JournalEntry {
  readonly opId: string;
  readonly quantity: number;
  readonly buyerId: string;
  /** On the server's clock. */
  readonly takenAtEpochMs: number;
}

const ENTRY = /^(\d+):(\d+):(.*)$/s;

export function journalText({ quantity, takenAtEpochMs, buyerId }: Omit<JournalEntry, "opId">): string {
  return `${quantity}:${takenAtEpochMs}:${buyerId}`;
}

/**
 * @param fields the hash as Redis lists it: field, value, field, value ...
 * @throws Error for an entry that is none: somebody else writes into the journal
 */
export function parseJournal(fields: readonly string[]): JournalEntry[] {
  const entries: JournalEntry[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const opId = fields[index] ?? "";
    const match = ENTRY.exec(fields[index + 1] ?? "");
    if (!match) throw new Error(`journal entry ${opId} is not quantity:time:buyer: ${fields[index + 1]}`);
    const [, quantity, takenAtEpochMs, buyerId = ""] = match;
    entries.push({ opId, quantity: Number(quantity), takenAtEpochMs: Number(takenAtEpochMs), buyerId });
  }
  return entries;
}
