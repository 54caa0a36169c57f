import { type MemcachedCommands, MemcachedError } from "../locks/memcached/memcached-port";
import { elapsedMs, nowNs } from "../services/monotonic";
import { type JournalEntry, journalText, parseJournal } from "./redis-journal";

/** Longer than any run. Each write renews the node's item, and the index item once it is due. */
const EXPIRY_SECONDS = 900;
const RENEW_INDEX_MS = (EXPIRY_SECONDS * 1_000) / 3;
/** Two nodes that join the index at the same time retry. This bounds the retries of one node. */
const INDEX_TRIES = 32;

/**
 * The purchases of a target between their change of the counter in Memcached and their order. Memcached cannot list keys, so each
 * node writes one item, `journal:<resource>:<node>`, and an index item lists the nodes.
 *
 * A purchase is added before it changes the counter. If the counter is read before the journal and the journal is empty, the
 * counter must equal the row. Entries are written in groups: entries that arrive during a write go with the next one.
 */
export class MemcachedJournal {
  /** The content of the node's item, including the entries of an earlier process of the same name. */
  private entries: Map<string, JournalEntry> | null = null;
  private opening: Promise<Map<string, JournalEntry>> | null = null;
  private writing: Promise<void> | null = null;
  private nextWrite: Promise<void> | null = null;
  private indexRenewedNs = 0n;

  constructor(
    private readonly client: MemcachedCommands,
    private readonly resource: string,
    private readonly node: string,
  ) {}

  /** Resolves when the entry is on the server. */
  async add(entry: JournalEntry): Promise<void> {
    const entries = await this.open();
    entries.set(entry.opId, entry);
    await this.flush();
  }

  /** Removes entries. The next write sends the change to the server; it is sent at once if no entry is left. */
  async remove(opIds: readonly string[]): Promise<void> {
    const entries = await this.open();
    const before = entries.size;
    for (const opId of opIds) entries.delete(opId);
    if (entries.size === 0 && before > 0) await this.flush();
  }

  /** Reads the entries of all nodes from the server. If the server has lost this node's entries, it writes them again. */
  async read(): Promise<JournalEntry[]> {
    if (this.entries && this.entries.size > 0) await this.flush();
    const nodes = (await this.client.gets(this.indexKey))?.value.split(",") ?? [];
    const items = await Promise.all(nodes.map((node) => this.client.gets(this.itemKey(node))));
    return items.flatMap((item) => parseItem(item?.value ?? ""));
  }

  private open(): Promise<Map<string, JournalEntry>> {
    if (this.entries) return Promise.resolve(this.entries);
    this.opening ??= this.load().finally(() => {
      this.opening = null;
    });
    return this.opening;
  }

  private async load(): Promise<Map<string, JournalEntry>> {
    const item = await this.client.gets(this.itemKey(this.node));
    this.entries = new Map(parseItem(item?.value ?? "").map((entry) => [entry.opId, entry]));
    return this.entries;
  }

  private async joinIndex(): Promise<void> {
    const key = this.indexKey;
    for (let attempt = 0; attempt < INDEX_TRIES; attempt += 1) {
      const found = await this.client.gets(key);
      const nodes = found?.value.split(",") ?? [];
      const isListed = nodes.includes(this.node);
      if (isListed && elapsedMs(this.indexRenewedNs) < RENEW_INDEX_MS) return;
      const value = (isListed ? nodes : [...nodes, this.node]).join(",");
      const item = { key, value, expirySeconds: EXPIRY_SECONDS };
      const renewedNs = nowNs();
      if (found ? (await this.client.cas(item, found)) === "stored" : await this.client.add(item)) {
        this.indexRenewedNs = renewedNs;
        return;
      }
    }
    throw new MemcachedError("not-serving", `the index ${key} changed ${INDEX_TRIES} times during one write`);
  }

  private flush(): Promise<void> {
    if (!this.writing) {
      this.writing = this.write();
      return this.writing;
    }
    this.nextWrite ??= this.writing.then(
      () => this.flushNext(),
      () => this.flushNext(),
    );
    return this.nextWrite;
  }

  private flushNext(): Promise<void> {
    this.nextWrite = null;
    this.writing = this.write();
    return this.writing;
  }

  private write(): Promise<void> {
    const value = [...(this.entries ?? new Map<string, JournalEntry>()).values()]
      .map((entry) => JSON.stringify([entry.opId, journalText(entry)]))
      .join("\n");
    const item = { key: this.itemKey(this.node), value, expirySeconds: EXPIRY_SECONDS };
    const written = Promise.all([this.client.set(item), this.joinIndex()]);
    return written
      .then(() => undefined)
      .finally(() => {
        if (!this.nextWrite) this.writing = null;
      });
  }

  private get indexKey(): string {
    return `journal:${this.resource}`;
  }

  private itemKey(node: string): string {
    return `${this.indexKey}:${node}`;
  }
}

function parseItem(text: string): JournalEntry[] {
  const lines = text.split("\n").filter(Boolean);
  return parseJournal(lines.flatMap((line) => JSON.parse(line) as [string, string]));
}
