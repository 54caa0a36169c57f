import { MemcacheClient } from "memcache-client";
import { LockError } from "../errors";
import {
  type MemcachedCommands,
  MemcachedError,
  type MemcachedErrorKind,
  type MemcachedItem,
  type MemcachedVersion,
} from "./memcached-port";

const DEFAULT_PORT = 11_211;
const CONNECT_LIMIT_MS = 1_500;
/** The client checks for overdue commands every 250 ms, so a command may take that much longer. */
const COMMAND_LIMIT_MS = 1_500;

/**
 * Memcached over memcache-client, with one connection that opens at first use and reopens after a loss. A command fails
 * if its connection is lost, if no connection can be opened, or if the server does not answer in time. It is never sent
 * twice.
 * @param url `memcached://host:port` or `host:port`
 * @throws {LockError} `config_invalid` if the address is not valid
 */
export function openMemcached(url: string): MemcachedCommands {
  const client = new MemcacheClient({
    server: { server: serverOf(url), maxConnections: 1 },
    cmdTimeout: COMMAND_LIMIT_MS,
    connectTimeout: CONNECT_LIMIT_MS,
    noDelay: true,
  });
  return new ClientCommands(client);
}

class ClientCommands implements MemcachedCommands {
  readonly #client: MemcacheClient;
  #isClosed = false;

  constructor(client: MemcacheClient) {
    this.#client = client;
  }

  async add({ key, value, expirySeconds }: MemcachedItem): Promise<boolean> {
    const answer = await this.#send(() => this.#client.add(key, value, { lifetime: expirySeconds }));
    return answer !== "NOT_STORED";
  }

  async set({ key, value, expirySeconds }: MemcachedItem): Promise<void> {
    await this.#send(() => this.#client.set(key, value, { lifetime: expirySeconds }));
  }

  async gets(key: string): Promise<MemcachedVersion | null> {
    const answer: unknown = await this.#send(() => this.#client.gets(key));
    return isItem(answer) ? { value: answer.value, casUnique: answer.casUniq } : null;
  }

  async cas({ key, value, expirySeconds }: MemcachedItem, { casUnique }: MemcachedVersion) {
    const options = { lifetime: expirySeconds, casUniq: casUnique };
    const answer = await this.#send(() => this.#client.cas(key, value, options));
    if (answer === "EXISTS") return "changed";
    return answer === "NOT_FOUND" ? "gone" : "stored";
  }

  async increment(key: string, by: number): Promise<number | null> {
    const answer = await this.#send(() => this.#client.incr(key, by));
    return answer === "NOT_FOUND" ? null : Number(answer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#client.shutdown();
  }

  /** The client throws negative replies like errors. Returns them as values and converts real errors. */
  async #send<T>(send: () => Promise<T>): Promise<T | NegativeReply> {
    // Without this check the client would reconnect.
    if (this.#isClosed) throw new MemcachedError("refused", "the Memcached client is closed");
    try {
      return await send();
    } catch (error) {
      const word = firstWordOf(error);
      if (isNegativeReply(word)) return word;
      const kind = KINDS.get(word) ?? "unreachable";
      throw new MemcachedError(kind, error instanceof Error ? error.message : String(error), error);
    }
  }
}

/** The client resolves with undefined for a missing item, although its types do not say so. */
function isItem(answer: unknown): answer is { readonly value: string; readonly casUniq: string } {
  return typeof answer === "object" && answer !== null && "casUniq" in answer;
}

const NEGATIVE_REPLIES = ["NOT_STORED", "EXISTS", "NOT_FOUND"] as const;
type NegativeReply = (typeof NEGATIVE_REPLIES)[number];

const KINDS: ReadonlyMap<string, MemcachedErrorKind> = new Map([
  ["SERVER_ERROR", "not-serving"],
  ["CLIENT_ERROR", "refused"],
  ["ERROR", "refused"],
]);

function isNegativeReply(word: string): word is NegativeReply {
  return (NEGATIVE_REPLIES as readonly string[]).includes(word);
}

/** The first word of the server's reply; empty if the server did not answer. */
function firstWordOf(error: unknown): string {
  return (error as { cmdTokens?: readonly string[] }).cmdTokens?.[0] ?? "";
}

/** `host:port`, the format of memcache-client. */
function serverOf(url: string): string {
  const match = /^(?:memcached:\/\/)?([^:/\s[\]]+)(?::(\d{1,5}))?\/?$/.exec(url.trim());
  if (match) return `${match[1]}:${match[2] ?? DEFAULT_PORT}`;
  throw new LockError({
    code: "config_invalid",
    strategyId: "memcached",
    resource: "-",
    message: `"${url}" is not a Memcached address; use memcached://host:port`,
    isDefinite: true,
  });
}
