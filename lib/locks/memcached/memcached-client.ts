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
/** The client looks for overdue commands four times a second, so a command may take a quarter of a second longer. */
const COMMAND_LIMIT_MS = 1_500;

/**
 * Memcached over memcache-client: one connection, made at first use and again after it was lost. A command fails when
 * the connection it was sent on is lost, when there is no connection to be had, and when the server is silent for
 * too long; it is never sent twice.
 * @param url `memcached://host:port` or `host:port`
 * @throws {LockError} `config_invalid` when the address is none
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
    const answer = await this.#ask(() => this.#client.add(key, value, { lifetime: expirySeconds }));
    return answer !== "NOT_STORED";
  }

  async set({ key, value, expirySeconds }: MemcachedItem): Promise<void> {
    await this.#ask(() => this.#client.set(key, value, { lifetime: expirySeconds }));
  }

  async gets(key: string): Promise<MemcachedVersion | null> {
    const answer: unknown = await this.#ask(() => this.#client.gets(key));
    return isItem(answer) ? { value: answer.value, casUnique: answer.casUniq } : null;
  }

  async cas({ key, value, expirySeconds }: MemcachedItem, { casUnique }: MemcachedVersion) {
    const options = { lifetime: expirySeconds, casUniq: casUnique };
    const answer = await this.#ask(() => this.#client.cas(key, value, options));
    if (answer === "EXISTS") return "changed";
    return answer === "NOT_FOUND" ? "gone" : "stored";
  }

  async increment(key: string, by: number): Promise<number | null> {
    const answer = await this.#ask(() => this.#client.incr(key, by));
    return answer === "NOT_FOUND" ? null : Number(answer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#client.shutdown();
  }

  /** The client throws "no" as it throws a lost connection; a plain "no" is an answer, and returned as the word it is. */
  async #ask<T>(send: () => Promise<T>): Promise<T | PlainNo> {
    // The client would connect again.
    if (this.#isClosed) throw new MemcachedError("refused", "the Memcached client has been closed");
    try {
      return await send();
    } catch (error) {
      const word = wordOf(error);
      if (isPlainNo(word)) return word;
      const kind = KINDS.get(word) ?? "unreachable";
      throw new MemcachedError(kind, error instanceof Error ? error.message : String(error), error);
    }
  }
}

/** The client resolves with undefined where there is no item, whatever its types say. */
function isItem(answer: unknown): answer is { readonly value: string; readonly casUniq: string } {
  return typeof answer === "object" && answer !== null && "casUniq" in answer;
}

const PLAIN_NOS = ["NOT_STORED", "EXISTS", "NOT_FOUND"] as const;
type PlainNo = (typeof PLAIN_NOS)[number];

const KINDS: ReadonlyMap<string, MemcachedErrorKind> = new Map([
  ["SERVER_ERROR", "not-serving"],
  ["CLIENT_ERROR", "refused"],
  ["ERROR", "refused"],
]);

function isPlainNo(word: string): word is PlainNo {
  return (PLAIN_NOS as readonly string[]).includes(word);
}

/** First word of the server's answer; empty when the server did not answer. */
function wordOf(error: unknown): string {
  return (error as { cmdTokens?: readonly string[] }).cmdTokens?.[0] ?? "";
}

/** `host:port`, as memcache-client wants it. */
function serverOf(url: string): string {
  const match = /^(?:memcached:\/\/)?([^:/\s[\]]+)(?::(\d{1,5}))?\/?$/.exec(url.trim());
  if (match) return `${match[1]}:${match[2] ?? DEFAULT_PORT}`;
  throw new LockError({
    code: "config_invalid",
    strategyId: "memcached",
    resource: "-",
    message: `"${url}" is not memcached://host:port`,
    isDefinite: true,
  });
}
