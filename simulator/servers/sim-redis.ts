import { redisScripts } from "./redis-script-models";
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

/** An error reply of the server. ioredis uses the same name. */
export class ReplyError extends Error {
  override readonly name = "ReplyError";
}

/** One Redis server with the commands that the locks use. redis-model.test.ts compares it with a real server. */
export class SimRedis extends SimServer {
  #entries = new Map<string, Entry>();
  #scripts = new Set<string>();
  readonly #sinks = new Map<string, Set<ChannelSink>>();
  /** Sender of the command that is being executed. */
  #actor = "";

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
        this.#entries.set(key, { value: String(next), createdBy: this.#actor, expiresAtMs });
        return next;
      }
      case "EXISTS":
        return this.#live(key) ? 1 : 0;
      case "PTTL":
        return this.#pttl(key);
      case "PEXPIRE":
        return this.#expire(key, Number(values[0]));
      case "DEL":
        return this.releaseKey(key);
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

  /** Deletes a lock. With `holder`, ownership is checked by holder ID; without, by the process that created the entry. */
  releaseKey(key: string, holder?: string): number {
    const entry = this.#live(key);
    if (!entry) return 0;
    if (holder === undefined) this.recordRelease(this.#actor, entry.createdBy);
    else this.recordRelease(holder, ownerOf(entry.value));
    this.#entries.delete(key);
    return 1;
  }

  renewKey(key: string, holder: string, ttlMs: number): number {
    const entry = this.#live(key);
    if (entry) this.recordRenewal(holder, ownerOf(entry.value));
    return this.#expire(key, ttlMs);
  }

  protected override dropData(): void {
    this.#entries = new Map();
  }

  protected override onRestart(): void {
    this.#scripts = new Set();
    this.#sinks.clear();
  }

  #evaluate(name: "EVALSHA" | "EVAL", body: string, [keyCount, ...rest]: string[]): unknown {
    const script = redisScripts.find(({ script }) => (name === "EVAL" ? script.source : script.sha1) === body);
    if (!script)
      throw new ReplyError(`ERR the simulator has no model of this script; add it to redis-script-models.ts: ${body}`);
    if (name === "EVAL") this.#scripts.add(script.script.sha1);
    else if (!this.#scripts.has(body)) throw new ReplyError("NOSCRIPT No matching script. Please use EVAL.");
    const keys = rest.slice(0, Number(keyCount));
    return script.run(this, keys, rest.slice(keys.length));
  }

  #set(key: string, [value = "", ...flags]: string[]): "OK" | null {
    const existing = this.#live(key);
    if (existing && flags.includes("NX")) return null;
    // SET without NX counts as a renewal, even if the key is absent.
    if (!flags.includes("NX")) this.recordRenewal(value, existing ? ownerOf(existing.value) : value);
    const ttlMs = flags.includes("PX") ? Number(flags[flags.indexOf("PX") + 1]) : Number.POSITIVE_INFINITY;
    this.#entries.set(key, { value, createdBy: this.#actor, expiresAtMs: this.nowMs + ttlMs });
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
    entry.expiresAtMs = this.nowMs + ttlMs;
    return 1;
  }

  #incrementField(key: string, [field = "", by = "1"]: readonly string[]): number {
    const hash = this.#hash(key) ?? new Map<string, number>();
    const count = (hash.get(field) ?? 0) + Number(by);
    hash.set(field, count);
    const expiresAtMs = this.#live(key)?.expiresAtMs ?? Number.POSITIVE_INFINITY;
    this.#entries.set(key, { value: hash, createdBy: this.#actor, expiresAtMs });
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
