/**
 * Units that were taken off the counter for an order in progress, or that are about to come back (`returnOf`).
 * Stored as `quantity:takenAtEpochMs:buyerId`.
 */
export interface JournalEntry {
  readonly opId: string;
  readonly quantity: number;
  readonly buyerId: string;
  /** On the server's clock. */
  readonly takenAtEpochMs: number;
}

/** A return of units to the counter: the order to end, and the operation that ends it. */
export interface AnnouncedReturn {
  readonly orderId: string;
  readonly opId: string;
}

const RETURN = /^return:(\d+):(.*)$/s;

/** The op id of the entry of a return. It has both ids, because several nodes may try to end the same order and one succeeds. */
export function returnOpId({ orderId, opId }: AnnouncedReturn): string {
  return `return:${orderId}:${opId}`;
}

/** The return that an entry announces; null for units that were taken. */
export function returnOf({ opId: entry }: Pick<JournalEntry, "opId">): AnnouncedReturn | null {
  const [, orderId, opId] = RETURN.exec(entry) ?? [];
  return orderId === undefined || opId === undefined ? null : { orderId, opId };
}

const ENTRY = /^(\d+):(\d+):(.*)$/s;

export function journalText({ quantity, takenAtEpochMs, buyerId }: Omit<JournalEntry, "opId">): string {
  return `${quantity}:${takenAtEpochMs}:${buyerId}`;
}

/**
 * @param fields the reply to HGETALL: field, value, field, value ...
 * @throws Error for a value that is not an entry, because another program wrote into the journal
 */
export function parseJournal(fields: readonly string[]): JournalEntry[] {
  const entries: JournalEntry[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const opId = fields[index] ?? "";
    const match = ENTRY.exec(fields[index + 1] ?? "");
    if (!match)
      throw new Error(
        `The journal entry ${opId} is not quantity:time:buyer but "${fields[index + 1]}". Delete it from the journal.`,
      );
    const [, quantity, takenAtEpochMs, buyerId = ""] = match;
    entries.push({ opId, quantity: Number(quantity), takenAtEpochMs: Number(takenAtEpochMs), buyerId });
  }
  return entries;
}
