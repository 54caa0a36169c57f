import { type Clock, sleepOn, type TimerHandle } from "../../lib/locks/clock";
import { CHECK, FIRST, type SimEvent } from "./event-queue";
import type { World } from "./world";

export interface ProcessClock {
  /** Its milliseconds per true one. */
  readonly rate: number;
  /** By how much its wall clock is wrong. */
  readonly skewMs: number;
}

/** A store node: its clocks and timers, its pauses, its death. */
export class SimProcess implements Clock {
  readonly name: string;
  readonly #world: World;
  readonly #clock: ProcessClock;
  readonly #timers = new Set<SimEvent>();
  #pausedUntilMs = 0;
  #isCrashed = false;
  /** Told when a pause is over and what fell due meanwhile has run. */
  onResumed: () => void = () => {};
  onCrash: () => void = () => {};

  constructor(world: World, name: string, clock: ProcessClock) {
    this.#world = world;
    this.name = name;
    this.#clock = clock;
  }

  get isCrashed(): boolean {
    return this.#isCrashed;
  }

  get pausedUntilMs(): number {
    return this.#pausedUntilMs;
  }

  get isPaused(): boolean {
    return this.#world.nowMs < this.#pausedUntilMs;
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  nowMs(): number {
    return this.#world.nowMs * this.#clock.rate;
  }

  epochMs(): number {
    return 1_700_000_000_000 + this.nowMs() + this.#clock.skewMs;
  }

  /** Whole milliseconds and up to one late, as Node's timers are. */
  setTimer(delayMs: number, callback: () => void): TimerHandle {
    const waitMs = Math.max(1, Math.ceil(delayMs)) + this.#world.random.fraction();
    const event = this.#world.schedule({
      afterMs: waitMs / this.#clock.rate,
      process: this,
      priority: FIRST,
      run: () => {
        this.#timers.delete(event);
        callback();
      },
    });
    this.#timers.add(event);
    return { timer: event };
  }

  clearTimer({ timer }: TimerHandle): void {
    const event = timer as SimEvent;
    if (this.#timers.delete(event)) event.run = null;
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  /** Nothing of it runs meanwhile; timers and messages wait for it. */
  pause(forMs: number): void {
    if (this.#isCrashed || this.isPaused) return;
    this.#pausedUntilMs = this.#world.nowMs + forMs;
    this.#world.say(() => `${this.name} paused for ${forMs.toFixed(0)} ms`);
    this.#world.schedule({
      afterMs: forMs,
      priority: CHECK,
      run: () => {
        this.#world.say(() => `${this.name} resumed`);
        if (!this.#isCrashed) this.onResumed();
      },
    });
  }

  crash(): void {
    if (this.#isCrashed) return;
    this.#isCrashed = true;
    this.#world.say(() => `${this.name} crashed`);
    this.onCrash();
  }
}
