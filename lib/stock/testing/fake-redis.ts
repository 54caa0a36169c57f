import type { RedisCommands, RedisSession } from "../../locks/redis/redis-port";
import { AT_LIMIT, counterScripts, NO_COUNTER, SOLD_OUT } from "../redis-counter-scripts";

type Parameter = string | number;

const NOW_EPOCH_MS = 1_700_000_000_000;

/** The counter, buyers and journal of one target, with models of the scripts in redis-counter-scripts.ts. */
export class FakeRedis implements RedisCommands {
  counter: number | null;
  readonly buyers = new Map<string, number>();
  readonly journal = new Map<string, string>();
  /** Fails the commands of these names; `isExecuted`: after their execution, as when the reply is lost. */
  readonly failures = new Map<string, { readonly error: Error; readonly isExecuted: boolean }>();
  /** Called before each session command. */
  onSessionCommand: (command: string) => void = () => {};
  readonly sessions: FakeRedisSession[] = [];
  nowEpochMs = NOW_EPOCH_MS;
  /** Counts changes of counter and buyers, for WATCH. */
  version = 0;
  readonly #events: string[];

  constructor(counter: number | null, events: string[] = []) {
    this.counter = counter;
    this.#events = events;
  }

  async call(command: string, ...parameters: Parameter[]): Promise<unknown> {
    if (command === "EVAL") throw new Error("Every script is in the fake's cache, so EVAL is never needed.");
    if (command !== "EVALSHA") return this.#run(command, () => this.execute(command, parameters));
    const [sha1, keyCount, ...rest] = parameters;
    const name = SCRIPTS.find(([, script]) => script.sha1 === sha1)?.[0];
    if (!name) throw new Error(`The fake has no model of the script ${sha1}.`);
    const values = rest.slice(Number(keyCount)).map(String);
    return this.#run(name, () => this.#models[name](values));
  }

  openSession(): RedisSession {
    const session = new FakeRedisSession(this);
    this.sessions.push(session);
    return session;
  }

  execute(command: string, parameters: readonly Parameter[]): unknown {
    const [key = "", ...values] = parameters.map(String);
    switch (command) {
      case "GET":
        return this.counter === null ? null : String(this.counter);
      case "HGET":
        return this.buyers.get(values[0] ?? "")?.toString() ?? null;
      case "TIME":
        return [String(this.nowEpochMs / 1_000), "0"];
      case "DECRBY":
        return this.#change(() => {
          this.counter = (this.counter ?? 0) - Number(values[0]);
        });
      case "HINCRBY":
        return this.#change(() => this.buyers.set(values[0] ?? "", this.#unitsOf(values[0]) + Number(values[1])));
      case "HDEL":
        return this.journal.delete(values[0] ?? "") ? 1 : 0;
      case "HSET":
        return this.#storeFields(key, values);
      default:
        throw new Error(`The fake has no model of the command ${command}.`);
    }
  }

  #run(name: string, execute: () => unknown): unknown {
    this.#events.push(`redis ${name}`);
    const failure = this.failures.get(name);
    if (failure && !failure.isExecuted) throw failure.error;
    const reply = execute();
    if (failure) throw failure.error;
    return reply;
  }

  #change(change: () => unknown): unknown {
    this.version += 1;
    return change();
  }

  #storeFields(key: string, fields: readonly string[]): void {
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [field = "", value = ""] = fields.slice(at, at + 2);
      if (key.startsWith("journal:")) this.journal.set(field, value);
      else this.#change(() => this.buyers.set(field, Number(value)));
    }
  }

  #unitsOf(buyer = ""): number {
    return this.buyers.get(buyer) ?? 0;
  }

  #entry(quantity: string, buyer: string): string {
    return `${quantity}:${this.nowEpochMs}:${buyer}`;
  }

  readonly #models: Readonly<Record<keyof typeof counterScripts, (values: readonly string[]) => unknown>> = {
    take: ([quantity = "", buyer = "", limit = "", opId = ""]) => {
      if (this.counter === null) return [0, NO_COUNTER];
      const units = this.#unitsOf(buyer) + Number(quantity);
      if (Number(limit) > 0 && units > Number(limit)) return [this.counter, AT_LIMIT];
      if (this.counter < Number(quantity)) return [this.counter, SOLD_OUT];
      if (Number(limit) > 0) this.buyers.set(buyer, units);
      this.journal.set(opId, this.#entry(quantity, buyer));
      this.counter -= Number(quantity);
      this.version += 1;
      return [this.counter, 0];
    },
    giveBack: ([opId = "", quantity = "", buyer = ""]) => {
      if (!this.journal.delete(opId)) return 0;
      if (this.counter !== null) this.counter += Number(quantity);
      if (buyer !== "" && this.buyers.has(buyer)) {
        const units = this.#unitsOf(buyer) - Number(quantity);
        if (units > 0) this.buyers.set(buyer, units);
        else this.buyers.delete(buyer);
      }
      return 1;
    },
    announce: (values) => {
      for (let at = 0; at + 2 < values.length; at += 3)
        this.journal.set(values[at] ?? "", this.#entry(values[at + 1] ?? "", values[at + 2] ?? ""));
    },
    initialize: ([stock = ""]) => {
      const inJournal = [...this.journal.values()].reduce((sum, text) => sum + Number.parseInt(text, 10), 0);
      this.counter ??= Math.max(0, Number(stock) - inJournal);
    },
    reset: ([stock = ""]) => {
      this.buyers.clear();
      this.journal.clear();
      this.counter = Number(stock);
    },
    correct: ([read = "", right = ""]) => {
      if (this.counter !== Number(read) || this.journal.size > 0) return 0;
      this.counter = Number(right);
      return 1;
    },
    snapshot: () => [
      this.counter === null ? null : String(this.counter),
      [...this.journal].flat(),
      String(this.nowEpochMs / 1_000),
      "0",
    ],
  };
}

const SCRIPTS = Object.entries(counterScripts) as [keyof typeof counterScripts, { readonly sha1: string }][];

/** One connection with WATCH, MULTI and EXEC. */
export class FakeRedisSession implements RedisSession {
  isLost = false;
  readonly commands: (readonly Parameter[])[] = [];
  #watched: number | null = null;
  #queue: (() => unknown)[] | null = null;

  constructor(private readonly redis: FakeRedis) {}

  async call(command: string, ...parameters: Parameter[]): Promise<unknown> {
    this.redis.onSessionCommand(command);
    this.commands.push([command, ...parameters]);
    if (command === "WATCH") this.#watched = this.redis.version;
    else if (command === "UNWATCH") this.#watched = null;
    else if (command === "MULTI") this.#queue = [];
    else if (command === "EXEC") return this.#execute();
    else if (this.#queue) this.#queue.push(() => this.redis.execute(command, parameters));
    else return this.redis.execute(command, parameters);
    return "OK";
  }

  close(): void {
    this.isLost = true;
  }

  #execute(): unknown {
    const queue = this.#queue ?? [];
    const isUnchanged = this.#watched === null || this.#watched === this.redis.version;
    this.#queue = null;
    this.#watched = null;
    return isUnchanged ? queue.map((run) => run()) : null;
  }
}
