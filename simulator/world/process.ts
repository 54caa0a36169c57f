import { type Clock, sleepOn, type TimerHandle } from "../../lib/locks/clock";
import { CHECK, type SimEvent, TIMER } from "./event-queue";
import type { World } from "./world";

export interface ProcessClock {
  /** Milliseconds that it counts per true millisecond. */
  readonly rate: number;
  /** Offset of its wall clock. */
  readonly skewMs: number;
}

/** A store node, with its clocks and timers. It can pause and crash. */
export class SimProcess implements Clock {
  readonly name: string;
  readonly #world: World;
  readonly #clock: ProcessClock;
  readonly #timers = new Set<SimEvent>();
  #pausedUntilMs = 0;
  #isCrashed = false;
  /** Called after a pause, once the timers that came due during it have run. */
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

  /** Rounds up to whole milliseconds and fires up to one millisecond late, as Node's timers do. */
  setTimer(delayMs: number, callback: () => void): TimerHandle {
    const waitMs = Math.max(1, Math.ceil(delayMs)) + this.#world.random.fraction();
    const event = this.#world.schedule({
      afterMs: waitMs / this.#clock.rate,
      process: this,
      priority: TIMER,
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

  /** Runs nothing of this process until the pause is over; its timers and messages are delayed until then. */
  pause(forMs: number): void {
    if (this.#isCrashed || this.isPaused) return;
    this.#pausedUntilMs = this.#world.nowMs + forMs;
    this.#world.trace(() => `${this.name} paused for ${forMs.toFixed(0)} ms`);
    this.#world.schedule({
      afterMs: forMs,
      priority: CHECK,
      run: () => {
        this.#world.trace(() => `${this.name} resumed`);
        if (!this.#isCrashed) this.onResumed();
      },
    });
  }

  crash(): void {
    if (this.#isCrashed) return;
    this.#isCrashed = true;
    this.#world.trace(() => `${this.name} crashed`);
    this.onCrash();
  }
}
