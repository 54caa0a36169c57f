import { EventQueue, IO, type SimEvent } from "./event-queue";
import { Prng } from "./prng";
import type { SimProcess } from "./process";

export interface Violation {
  readonly property: string;
  readonly atMs: number;
  readonly detail: string;
}

export interface PlannedEvent {
  readonly afterMs: number;
  readonly run: () => void;
  readonly process?: SimProcess;
  readonly priority?: number;
}

/**
 * The world of one seed: true time, the queue of events and the violations found. It reads no real clock and no real random
 * source, so a seed always replays the same way.
 */
export class World {
  readonly random: Prng;
  readonly violations: Violation[] = [];
  /** The readable trace; empty unless tracing. */
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

  /** True time. Processes and servers read their own clocks instead. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Hash over all events so far. Equal histories have equal hashes. */
  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, "0");
  }

  schedule({ afterMs, run, process, priority = IO }: PlannedEvent): SimEvent {
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

  reportViolation(property: string, detail: string): void {
    this.violations.push({ property, atMs: this.#nowMs, detail });
    this.trace(() => `VIOLATION of ${property}: ${detail}`);
  }

  /** Adds a line to the readable trace. The line is built only when tracing. */
  trace(line: () => string): void {
    if (this.#isTracing) this.lines.push(`${this.#nowMs.toFixed(2).padStart(10)}  ${line()}`);
  }

  /**
   * Runs events until `isDone`, or until `limitMs` of true time has passed.
   * Every promise settles between two events: a microtask requests a tick for the next event, and Node runs ticks only when
   * no microtask is left.
   * @returns false when the time limit ended the run
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
