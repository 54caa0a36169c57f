/** Units that left the counter for an order that is on its way, or are on their way back (`returnOf`). Kept as `quantity:takenAtEpochMs:buyerId`. */
export interface JournalEntry {
  readonly opId: string;
  readonly quantity: number;
  readonly buyerId: string;
  /** On the server's clock. */
  readonly takenAtEpochMs: number;
}

/** Units on their way back to the counter, by the order that was ended and the operation that did it. */
export interface AnnouncedReturn {
  readonly orderId: string;
  readonly opId: string;
}

const RETURN = /^return:(\d+):(.*)$/s;

/** The op id of a return's entry: several nodes may try to end the same order, and only one of them does. */
export function returnOpId({ orderId, opId }: AnnouncedReturn): string {
  return `return:${orderId}:${opId}`;
}

/** What an entry announces; null for units that were taken. */
export function returnOf({ opId: entry }: Pick<JournalEntry, "opId">): AnnouncedReturn | null {
  const [, orderId, opId] = RETURN.exec(entry) ?? [];
  return orderId === undefined || opId === undefined ? null : { orderId, opId };
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
