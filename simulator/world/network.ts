import type { SimProcess } from "./process";
import type { World } from "./world";

/** How long messages are on their way, and how clients find out that nothing comes back. */
export interface Weather {
  /** Longest delay of a message while nothing is wrong. */
  readonly slowestMs: number;
  /** Of each request: its connection breaks before it arrives, or before its reply does. */
  readonly breakChance: number;
  /** Of each request: it is carried out twice, the second time right after. */
  readonly repeatChance: number;
  /** Of each message that a server sends unasked. */
  readonly dropChance: number;
}

/** What a server tells its links: whether it can be reached at all, and when it was gone. */
export interface Reachable {
  readonly name: string;
  readonly isDown: boolean;
}

export interface LinkLimits {
  /** A client gives a silent connection up after this long. */
  readonly silenceMs: number;
  readonly connectMs: number;
  /** Whether a request may still be carried out after its connection has been replaced. */
  readonly straggles: boolean;
}

interface Pending {
  readonly sentAtMs: number;
  readonly fail: (why: string) => void;
  isOver: boolean;
}

const CONNECT_MS = 2;
/** How much later than its own connection's end a request may still reach the server. */
const STRAGGLE_MS = 60;

/**
 * One TCP connection at a time between a process and a server. Messages arrive in the order they were sent; when the
 * connection breaks the next request goes over a new one, and may overtake what was still under way on the old one.
 */
export class Link {
  readonly #world: World;
  readonly process: SimProcess;
  readonly server: Reachable;
  readonly #weather: Weather;
  readonly #limits: LinkLimits;
  readonly #pending = new Set<Pending>();
  readonly #closeListeners = new Set<() => void>();
  #connection = 1;
  #connectedAtMs = 0;
  #lastArrivalMs = 0;
  #lastReplyMs = 0;
  /** Until then whatever is sent stays on its way. */
  #blockedUntilMs = 0;

  constructor(
    world: World,
    ends: { process: SimProcess; server: Reachable },
    how: { weather: Weather; limits: LinkLimits },
  ) {
    this.#world = world;
    this.process = ends.process;
    this.server = ends.server;
    this.#weather = how.weather;
    this.#limits = how.limits;
  }

  get isBlocked(): boolean {
    return this.#world.nowMs < this.#blockedUntilMs;
  }

  /** Changes with every new connection. */
  get connection(): number {
    return this.#connection;
  }

  onClose(listener: () => void): void {
    this.#closeListeners.add(listener);
  }

  /** Sends; rejects when the connection is lost or silent, which leaves open whether the server has carried it out. */
  request<T>(execute: () => T): Promise<T> {
    const world = this.#world;
    return new Promise((resolve, reject) => {
      const pending: Pending = {
        sentAtMs: world.nowMs,
        isOver: false,
        fail: (why) => {
          if (pending.isOver) return;
          pending.isOver = true;
          this.#pending.delete(pending);
          world.schedule({ afterMs: 0, process: this.process, run: () => reject(new Error(why)) });
        },
      };
      this.#pending.add(pending);
      if (this.server.isDown && !this.isBlocked) {
        world.schedule({ afterMs: this.#delayMs(), run: () => pending.fail("connection refused") });
        return;
      }
      this.#send(pending, execute, (outcome) => {
        if ("error" in outcome) reject(outcome.error);
        else resolve(outcome.value);
      });
    });
  }

  /** A message nobody asked for, from the server. Lost with its connection. */
  push(run: () => void): void {
    const world = this.#world;
    const connection = this.#connection;
    if (world.random.chance(this.#weather.dropChance)) return;
    const delayMs = this.#travel("reply");
    world.schedule({ afterMs: delayMs, process: this.process, run: () => connection === this.#connection && run() });
  }

  /** Messages stay on their way until then; clients that do not wait so long leave the connection. */
  block(forMs: number): void {
    this.#blockedUntilMs = Math.max(this.#blockedUntilMs, this.#world.nowMs + forMs);
    this.#world.say(() => `${this.process.name} cut off from ${this.server.name} for ${forMs.toFixed(0)} ms`);
    for (const pending of this.#pending) this.#watchSilence(pending);
  }

  /** The connection is gone; whoever waits for an answer is told. */
  reset(why = "connection reset"): void {
    this.#world.say(() => `${this.process.name}: connection to ${this.server.name} lost (${why})`);
    this.#connection += 1;
    this.#connectedAtMs = this.#world.nowMs + CONNECT_MS;
    this.#lastArrivalMs = 0;
    this.#lastReplyMs = 0;
    for (const pending of this.#pending) pending.fail(why);
    for (const listener of this.#closeListeners) listener();
  }

  #send<T>(
    pending: Pending,
    execute: () => T,
    settle: (outcome: { readonly value: T } | { readonly error: unknown }) => void,
  ): void {
    const world = this.#world;
    const connection = this.#connection;
    const { random } = world;
    const fate = random.fraction();
    const { breakChance, repeatChance } = this.#weather;
    const isLost = fate < breakChance / 2;
    const isReplyLost = !isLost && fate < breakChance;
    const isRepeated = fate > 1 - repeatChance;
    const delayMs = this.#travel("request");
    if (this.isBlocked) this.#watchSilence(pending);
    const arrive = () => {
      if (connection !== this.#connection) return;
      if (this.server.isDown || isLost) return this.reset(isLost ? "connection reset" : "server gone");
      const outcome = attempt(execute);
      if (isRepeated) attempt(execute);
      if (isReplyLost) return this.reset();
      const backMs = this.#travel("reply");
      if (this.isBlocked) this.#watchSilence(pending);
      world.schedule({
        afterMs: backMs,
        process: this.process,
        run: () => {
          if (pending.isOver || connection !== this.#connection) return;
          pending.isOver = true;
          this.#pending.delete(pending);
          settle(outcome);
        },
      });
    };
    // What was under way on a connection that broke meanwhile is dropped, or comes late.
    const straggles = this.#limits.straggles && random.chance(0.5);
    world.schedule({
      afterMs: delayMs,
      run: () => {
        if (connection === this.#connection) return arrive();
        if (!straggles || isLost) return;
        world.schedule({ afterMs: random.between(0, STRAGGLE_MS), run: () => this.server.isDown || attempt(execute) });
      },
    });
  }

  #watchSilence(pending: Pending): void {
    const connection = this.#connection;
    const isNew = this.#world.nowMs < this.#connectedAtMs;
    const limitMs = isNew ? this.#limits.connectMs : this.#limits.silenceMs;
    const afterMs = pending.sentAtMs + limitMs - this.#world.nowMs;
    this.#world.schedule({
      afterMs,
      process: this.process,
      run: () => {
        if (!pending.isOver && connection === this.#connection) this.reset("no answer");
      },
    });
  }

  #travel(direction: "request" | "reply"): number {
    const { nowMs } = this.#world;
    const earliestMs = Math.max(nowMs, this.#blockedUntilMs, this.#connectedAtMs) + this.#delayMs();
    if (direction === "request") {
      this.#lastArrivalMs = Math.max(this.#lastArrivalMs, earliestMs);
      return this.#lastArrivalMs - nowMs;
    }
    this.#lastReplyMs = Math.max(this.#lastReplyMs, earliestMs);
    return this.#lastReplyMs - nowMs;
  }

  /** Mostly quick, sometimes slow, now and then very slow. */
  #delayMs(): number {
    const { random } = this.#world;
    const luck = random.fraction();
    const { slowestMs } = this.#weather;
    if (luck < 0.92) return 0.2 + luck * 2;
    return random.between(0.2, luck < 0.99 ? slowestMs / 4 : slowestMs);
  }
}

function attempt<T>(execute: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: execute() };
  } catch (error) {
    return { error };
  }
}
