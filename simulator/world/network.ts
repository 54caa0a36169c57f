import type { SimProcess } from "./process";
import type { World } from "./world";

/** Delays and failures of the messages between processes and servers. */
export interface NetworkConditions {
  /** Longest delay of a message without a fault. */
  readonly slowestMs: number;
  /** Per request: the probability that the connection breaks before the request or its reply arrives. */
  readonly breakChance: number;
  /** Per request: the probability that the server executes it twice in a row. */
  readonly repeatChance: number;
  /** Per pushed message: the probability that it is lost. */
  readonly dropChance: number;
}

/** The part of a server that a link needs. */
export interface Reachable {
  readonly name: string;
  readonly isDown: boolean;
}

export interface LinkLimits {
  /** A client closes a connection that was silent for this long. */
  readonly silenceMs: number;
  readonly connectMs: number;
  /** Whether the server may execute a request after its connection was replaced. */
  readonly mayDeliverLate: boolean;
}

interface Pending {
  readonly sentAtMs: number;
  readonly fail: (why: string) => void;
  isOver: boolean;
}

const CONNECT_MS = 2;
/** Longest time after the end of its connection at which a request can still reach the server. */
const LATE_DELIVERY_MS = 60;

/**
 * One TCP connection at a time between a process and a server. A connection delivers messages in order. After it breaks, the
 * next request uses a new connection and can overtake requests in flight on the old one.
 */
export class Link {
  readonly #world: World;
  readonly process: SimProcess;
  readonly server: Reachable;
  readonly #conditions: NetworkConditions;
  readonly #limits: LinkLimits;
  readonly #pending = new Set<Pending>();
  readonly #closeListeners = new Set<() => void>();
  #connection = 1;
  #connectedAtMs = 0;
  #lastArrivalMs = 0;
  #lastReplyMs = 0;
  /** No message arrives before this time. */
  #blockedUntilMs = 0;

  constructor(
    world: World,
    ends: { process: SimProcess; server: Reachable },
    options: { conditions: NetworkConditions; limits: LinkLimits },
  ) {
    this.#world = world;
    this.process = ends.process;
    this.server = ends.server;
    this.#conditions = options.conditions;
    this.#limits = options.limits;
  }

  get isBlocked(): boolean {
    return this.#world.nowMs < this.#blockedUntilMs;
  }

  /** Number of the current connection. */
  get connection(): number {
    return this.#connection;
  }

  onClose(listener: () => void): void {
    this.#closeListeners.add(listener);
  }

  /** Sends a request. Rejects when the connection is lost or silent; the server may have executed the request. */
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

  /** Delivers a message that the server pushes. The message is lost if its connection breaks. */
  push(run: () => void): void {
    const world = this.#world;
    const connection = this.#connection;
    if (world.random.chance(this.#conditions.dropChance)) return;
    const delayMs = this.#arrivalDelayMs("reply");
    world.schedule({ afterMs: delayMs, process: this.process, run: () => connection === this.#connection && run() });
  }

  /** Partitions the link: delays all messages. A client whose silence limit is shorter closes the connection. */
  block(forMs: number): void {
    this.#blockedUntilMs = Math.max(this.#blockedUntilMs, this.#world.nowMs + forMs);
    this.#world.trace(() => `${this.process.name} partitioned from ${this.server.name} for ${forMs.toFixed(0)} ms`);
    for (const pending of this.#pending) this.#watchSilence(pending);
  }

  /** Breaks the connection and fails all pending requests. */
  reset(why = "connection reset"): void {
    this.#world.trace(() => `${this.process.name}: connection to ${this.server.name} lost (${why})`);
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
    const roll = random.fraction();
    const { breakChance, repeatChance } = this.#conditions;
    const isLost = roll < breakChance / 2;
    const isReplyLost = !isLost && roll < breakChance;
    const isRepeated = roll > 1 - repeatChance;
    const delayMs = this.#arrivalDelayMs("request");
    if (this.isBlocked) this.#watchSilence(pending);
    const arrive = () => {
      if (connection !== this.#connection) return;
      if (this.server.isDown || isLost) return this.reset(isLost ? "connection reset" : "server down");
      const outcome = attempt(execute);
      if (isRepeated) attempt(execute);
      if (isReplyLost) return this.reset();
      const backMs = this.#arrivalDelayMs("reply");
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
    // If the connection breaks while the request is in flight, the request is dropped or arrives late.
    const arrivesLate = this.#limits.mayDeliverLate && random.chance(0.5);
    world.schedule({
      afterMs: delayMs,
      run: () => {
        if (connection === this.#connection) return arrive();
        if (!arrivesLate || isLost) return;
        world.schedule({
          afterMs: random.between(0, LATE_DELIVERY_MS),
          run: () => this.server.isDown || attempt(execute),
        });
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
        if (!pending.isOver && connection === this.#connection) this.reset("no reply");
      },
    });
  }

  #arrivalDelayMs(direction: "request" | "reply"): number {
    const { nowMs } = this.#world;
    const earliestMs = Math.max(nowMs, this.#blockedUntilMs, this.#connectedAtMs) + this.#delayMs();
    if (direction === "request") {
      this.#lastArrivalMs = Math.max(this.#lastArrivalMs, earliestMs);
      return this.#lastArrivalMs - nowMs;
    }
    this.#lastReplyMs = Math.max(this.#lastReplyMs, earliestMs);
    return this.#lastReplyMs - nowMs;
  }

  /** 92 % fast, 7 % slow, 1 % very slow. */
  #delayMs(): number {
    const { random } = this.#world;
    const roll = random.fraction();
    const { slowestMs } = this.#conditions;
    if (roll < 0.92) return 0.2 + roll * 2;
    return random.between(0.2, roll < 0.99 ? slowestMs / 4 : slowestMs);
  }
}

function attempt<T>(execute: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: execute() };
  } catch (error) {
    return { error };
  }
}
