import { EventQueue, IO, type SimEvent } from "./event-queue";
import { Prng } from "./prng";
import type { SimProcess } from "./process";

export interface Violation {
  readonly property: string;
  readonly atMs: number;
  readonly detail: string;
}

export interface Happening {
  readonly afterMs: number;
  readonly run: () => void;
  readonly process?: SimProcess;
  readonly priority?: number;
}

/**
 * One seed's world: true time, what is going to happen, and what has gone wrong. Nothing in it reads a real clock or a
 * real source of chance, so that the same seed happens again in the same way.
 */
export class World {
  readonly random: Prng;
  readonly violations: Violation[] = [];
  /** Filled when tracing. */
  readonly lines: string[] = [];
  readonly #isTracing: boolean;
  readonly #queue = new EventQueue();
  #nowMs = 0;
  #hash = 0x811c9dc5;
  events = 0;

  constructor(seed: number, isTracing = false) {
    this.random = new Prng(seed);
    this.#isTracing = isTracing;
  }

  /** True time, which no process and no server can read. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Of every event so far: equal for equal histories. */
  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, "0");
  }

  schedule({ afterMs, run, process, priority = IO }: Happening): SimEvent {
    const event: SimEvent = {
      atMs: this.#nowMs + Math.max(0, afterMs),
      priority,
      order: 0,
      process: process ?? null,
      run,
    };
    this.#queue.push(event);
    return event;
  }

  violate(property: string, detail: string): void {
    this.violations.push({ property, atMs: this.#nowMs, detail });
    this.say(() => `VIOLATION of ${property}: ${detail}`);
  }

  /** A line of the readable trace; costs nothing while nobody reads it. */
  say(line: () => string): void {
    if (this.#isTracing) this.lines.push(`${this.#nowMs.toFixed(2).padStart(10)}  ${line()}`);
  }

  /**
   * Lets things happen until it is done or that much time has passed.
   * Between two events every promise settles: the next one is taken by a tick that a microtask asked for, and Node runs
   * ticks only when no microtask is left.
   */
  run(isDone: () => boolean, limitMs: number): Promise<boolean> {
    const untilMs = this.#nowMs + limitMs;
    return new Promise((resolve, reject) => {
      const step = () => {
        try {
          if (isDone()) return resolve(true);
          if (!this.#runNext(untilMs)) {
            this.#nowMs = untilMs;
            return resolve(false);
          }
          queueMicrotask(settled);
        } catch (error) {
          reject(error);
        }
      };
      const settled = () => process.nextTick(step);
      queueMicrotask(settled);
    });
  }

  #runNext(untilMs: number): boolean {
    for (;;) {
      const event = this.#queue.popUntil(untilMs);
      if (!event) return false;
      const owner = event.process;
      if (owner?.isCrashed) continue;
      if (owner && event.atMs < owner.pausedUntilMs) {
        event.atMs = owner.pausedUntilMs;
        this.#queue.push(event);
        continue;
      }
      this.#nowMs = event.atMs;
      this.events += 1;
      this.#mix(event.atMs * 1024);
      this.#mix(event.order);
      event.run?.();
      return true;
    }
  }

  #mix(value: number): void {
    this.#hash = Math.imul(this.#hash ^ (value | 0), 0x01000193);
  }
}
