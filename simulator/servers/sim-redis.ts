import { createHash } from "node:crypto";
import { runLuaScript } from "./lua-script";
import { ReplyError } from "./reply-error";
import { SimServer, shorten } from "./sim-server";

export type RedisValue = string | Map<string, number>;

interface Entry {
  readonly value: RedisValue;
  /** The process that created the entry; the owner of locks whose value names no holder. */
  readonly createdBy: string;
  expiresAtMs: number;
}

export interface RedisRequest {
  /** The process that sent the command. */
  readonly actor: string;
  readonly name: string;
  readonly parameters: readonly (string | number)[];
}

export interface ChannelSink {
  deliver(channel: string, text: string): void;
}

/** What one execution of a script may touch and has touched. */
interface RunningScript {
  /** ARGV. It names the holder for which the script runs. */
  readonly values: readonly string[];
  /** Entries that the script itself wrote: their expiry is part of the acquisition, not a renewal. */
  readonly written: Set<Entry>;
}

/** The text of every script of this process by its hash. A server must have been sent a script before it runs the hash. */
const sources = new Map<string, string>();

/**
 * One Redis server with the commands that the locks use. It runs the text of scripts. redis-model.test.ts compares it with a
 * real server.
 */
export class SimRedis extends SimServer {
  #entries = new Map<string, Entry>();
  #scripts = new Set<string>();
  readonly #sinks = new Map<string, Set<ChannelSink>>();
  /** Sender of the command that is being executed. */
  #actor = "";
  /** The script that is being executed. */
  #script: RunningScript | null = null;

  execute({ actor, name, parameters }: RedisRequest): unknown {
    this.#actor = actor;
    const [first = "", ...rest] = parameters;
    const texts = rest.map(String);
    if (name === "EVALSHA" || name === "EVAL") return this.#evaluate(name, String(first), texts);
    return this.command(name, [String(first), ...texts]);
  }

  /** One command, atomic. */
  command(name: string, [key = "", ...values]: readonly string[]): unknown {
    switch (name) {
      case "SET":
        return this.#set(key, values);
      case "GET":
        return this.#string(key) ?? null;
      case "INCR": {
        const next = Number(this.#string(key) ?? 0) + 1;
        const expiresAtMs = this.#live(key)?.expiresAtMs ?? Number.POSITIVE_INFINITY;
        this.#write(key, { value: String(next), createdBy: this.#actor, expiresAtMs });
        return next;
      }
      case "EXISTS":
        return this.#live(key) ? 1 : 0;
      case "PTTL":
        return this.#pttl(key);
      case "PEXPIRE":
        return this.#expire(key, Number(values[0]));
      case "DEL":
        return this.#delete(key);
      case "HEXISTS":
        return this.#hash(key)?.has(values[0] ?? "") ? 1 : 0;
      case "HINCRBY":
        return this.#incrementField(key, values);
      case "PUBLISH":
        return this.#publish(key, values[0] ?? "");
      default:
        throw new ReplyError(`ERR unknown command '${name}'`);
    }
  }

  subscribe(channel: string, sink: ChannelSink): void {
    const sinks = this.#sinks.get(channel) ?? new Set();
    this.#sinks.set(channel, sinks.add(sink));
  }

  unsubscribe(channel: string, sink: ChannelSink): void {
    this.#sinks.get(channel)?.delete(sink);
  }

  /** Removes all subscriptions of a closed connection. */
  dropSink(sink: ChannelSink): void {
    for (const sinks of this.#sinks.values()) sinks.delete(sink);
  }

  /** Whether an entry that expires was created by the process. */
  storesLockOf(process: string): boolean {
    return [...this.#entries.values()].some(
      ({ createdBy, expiresAtMs }) =>
        createdBy === process && expiresAtMs > this.nowMs && expiresAtMs !== Number.POSITIVE_INFINITY,
    );
  }

  protected override dropData(): void {
    this.#entries = new Map();
  }

  protected override onRestart(): void {
    this.#scripts = new Set();
    this.#sinks.clear();
  }

  #evaluate(name: "EVALSHA" | "EVAL", body: string, [keyCount, ...rest]: string[]): unknown {
    if (name === "EVAL") this.#load(body);
    else if (!this.#scripts.has(body)) throw new ReplyError("NOSCRIPT No matching script. Please use EVAL.");
    const source = name === "EVAL" ? body : (sources.get(body) ?? "");
    const keys = rest.slice(0, Number(keyCount));
    const values = rest.slice(keys.length);
    this.#script = { values, written: new Set() };
    try {
      return runLuaScript(source, { keys, values }, (command, parameters) => this.command(command, parameters));
    } finally {
      this.#script = null;
    }
  }

  #load(source: string): void {
    const sha1 = createHash("sha1").update(source).digest("hex");
    sources.set(sha1, source);
    this.#scripts.add(sha1);
  }

  #write(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#script?.written.add(entry);
  }

  /** A script must run for the holder that the entry names. A plain command must come from the process that created the entry. */
  #delete(key: string): number {
    const entry = this.#live(key);
    if (!entry) return 0;
    if (this.#script) this.recordRelease(this.#holderFor(entry), ownerOf(entry.value));
    else this.recordRelease(this.#actor, entry.createdBy);
    this.#entries.delete(key);
    return 1;
  }

  /** The owner if the running script names it, otherwise the process that sent the script. */
  #holderFor({ value }: Entry): string {
    const owner = ownerOf(value);
    return this.#script?.values.includes(owner) ? owner : this.#actor;
  }

  #set(key: string, [value = "", ...flags]: string[]): "OK" | null {
    const existing = this.#live(key);
    if (existing && flags.includes("NX")) return null;
    // SET without NX counts as a renewal, even if the key is absent.
    if (!flags.includes("NX")) this.recordRenewal(value, existing ? ownerOf(existing.value) : value);
    const ttlMs = flags.includes("PX") ? Number(flags[flags.indexOf("PX") + 1]) : Number.POSITIVE_INFINITY;
    this.#write(key, { value, createdBy: this.#actor, expiresAtMs: this.nowMs + ttlMs });
    this.world.trace(() => `${this.name}: ${this.#actor} takes ${key} as ${shorten(value)} for ${ttlMs} ms`);
    return "OK";
  }

  #pttl(key: string): number {
    const entry = this.#live(key);
    if (!entry) return -2;
    return entry.expiresAtMs === Number.POSITIVE_INFINITY ? -1 : Math.ceil(entry.expiresAtMs - this.nowMs);
  }

  #expire(key: string, ttlMs: number): number {
    const entry = this.#live(key);
    if (!entry) return 0;
    if (this.#script && !this.#script.written.has(entry))
      this.recordRenewal(this.#holderFor(entry), ownerOf(entry.value));
    entry.expiresAtMs = this.nowMs + ttlMs;
    return 1;
  }

  #incrementField(key: string, [field = "", by = "1"]: readonly string[]): number {
    const hash = this.#hash(key) ?? new Map<string, number>();
    const count = (hash.get(field) ?? 0) + Number(by);
    hash.set(field, count);
    const expiresAtMs = this.#live(key)?.expiresAtMs ?? Number.POSITIVE_INFINITY;
    this.#write(key, { value: hash, createdBy: this.#actor, expiresAtMs });
    return count;
  }

  #publish(channel: string, text: string): number {
    const sinks = this.#sinks.get(channel);
    for (const sink of sinks ?? []) sink.deliver(channel, text);
    return sinks?.size ?? 0;
  }

  #string(key: string): string | undefined {
    const value = this.#live(key)?.value;
    if (value instanceof Map) throw wrongType();
    return value;
  }

  #hash(key: string): Map<string, number> | undefined {
    const value = this.#live(key)?.value;
    if (typeof value === "string") throw wrongType();
    return value;
  }

  #live(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (!entry || entry.expiresAtMs > this.nowMs) return entry;
    this.#entries.delete(key);
    return undefined;
  }
}

function wrongType(): ReplyError {
  return new ReplyError("WRONGTYPE Operation against a key holding the wrong kind of value");
}

function ownerOf(value: RedisValue): string {
  return typeof value === "string" ? value : ([...value.keys()][0] ?? "no holder");
}
