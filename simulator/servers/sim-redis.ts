import { redisScripts } from "./redis-scripts";
import { brief, SimServer } from "./sim-server";

export type RedisValue = string | Map<string, number>;

interface Entry {
  readonly value: RedisValue;
  /** Process that made it: the owner, where the value does not say. */
  readonly madeBy: string;
  expiresAtMs: number;
}

export interface RedisRequest {
  /** Process that sent it. */
  readonly actor: string;
  readonly name: string;
  readonly parameters: readonly (string | number)[];
}

export interface ChannelSink {
  deliver(channel: string, text: string): void;
}

/** What a server answers when it refuses; ioredis names it so. */
export class ReplyError extends Error {
  override readonly name = "ReplyError";
}

/** One Redis, as far as the locks use it. Held to a real one by redis-model.test.ts. */
export class SimRedis extends SimServer {
  #entries = new Map<string, Entry>();
  #scripts = new Set<string>();
  readonly #sinks = new Map<string, Set<ChannelSink>>();
  /** Sender of the command that is being carried out. */
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
        this.#entries.set(key, { value: String(next), madeBy: this.#actor, expiresAtMs });
        return next;
      }
      case "EXISTS":
        return this.#live(key) ? 1 : 0;
      case "PTTL":
        return this.#pttl(key);
      case "PEXPIRE":
        return this.#expire(key, Number(values[0]));
      case "DEL":
        return this.freed(key);
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

  /** The connection is gone, and its subscriptions with it. */
  dropSink(sink: ChannelSink): void {
    for (const sinks of this.#sinks.values()) sinks.delete(sink);
  }

  /** The hold's owner is in the value; a script that was given a holder compares itself, others are judged by process. */
  freed(key: string, holder?: string): number {
    const entry = this.#live(key);
    if (!entry) return 0;
    if (holder === undefined) this.noteFreed(this.#actor, entry.madeBy);
    else this.noteFreed(holder, ownerOf(entry.value));
    this.#entries.delete(key);
    return 1;
  }

  renewed(key: string, holder: string, ttlMs: number): number {
    const entry = this.#live(key);
    if (entry) this.noteRenewed(holder, ownerOf(entry.value));
    return this.#expire(key, ttlMs);
  }

  protected override forget(): void {
    this.#entries = new Map();
  }

  protected override onRestart(): void {
    this.#scripts = new Set();
    this.#sinks.clear();
  }

  #evaluate(name: "EVALSHA" | "EVAL", body: string, [keyCount, ...rest]: string[]): unknown {
    const script = redisScripts.find(({ script }) => (name === "EVAL" ? script.source : script.sha1) === body);
    if (!script) throw new ReplyError(`ERR the simulator knows no such script: ${body}`);
    if (name === "EVAL") this.#scripts.add(script.script.sha1);
    else if (!this.#scripts.has(body)) throw new ReplyError("NOSCRIPT No matching script. Please use EVAL.");
    const keys = rest.slice(0, Number(keyCount));
    return script.run(this, keys, rest.slice(keys.length));
  }

  #set(key: string, [value = "", ...flags]: string[]): "OK" | null {
    const known = this.#live(key);
    if (known && flags.includes("NX")) return null;
    // Without NX it is as good as a renewal, also where there is nothing left to renew.
    if (!flags.includes("NX")) this.noteRenewed(value, known ? ownerOf(known.value) : value);
    const ttlMs = flags.includes("PX") ? Number(flags[flags.indexOf("PX") + 1]) : Number.POSITIVE_INFINITY;
    this.#entries.set(key, { value, madeBy: this.#actor, expiresAtMs: this.nowMs + ttlMs });
    this.world.say(() => `${this.name}: ${this.#actor} takes ${key} as ${brief(value)} for ${ttlMs} ms`);
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
    this.#entries.set(key, { value: hash, madeBy: this.#actor, expiresAtMs });
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
  return typeof value === "string" ? value : ([...value.keys()][0] ?? "nobody");
}
