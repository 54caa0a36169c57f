import { type Clock, sleepOn, type TimerHandle } from "../clock";

interface FakeTimer {
  readonly dueMs: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Enough turns for every promise chain of the library to settle between two timers. */
const MICROTASKS_PER_STEP = 200;

/** A clock that advances only on request. Timers run in due order, and promises settle in between. */
export class FakeClock implements Clock {
  #nowMs = 0;
  #epochOffsetMs = 1_700_000_000_000;
  #order = 0;
  readonly #timers = new Set<FakeTimer>();

  nowMs(): number {
    return this.#nowMs;
  }

  epochMs(): number {
    return this.#nowMs + this.#epochOffsetMs;
  }

  setTimer(delayMs: number, callback: () => void): TimerHandle {
    const timer: FakeTimer = { dueMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, callback };
    this.#timers.add(timer);
    return { timer };
  }

  clearTimer({ timer }: TimerHandle): void {
    this.#timers.delete(timer as FakeTimer);
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  /** Number of timers that are set. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Advances time and runs the timers that fall due. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#nowMs + byMs;
    await settlePromises();
    for (let next = this.#next(untilMs); next; next = this.#next(untilMs)) {
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.callback();
      await settlePromises();
    }
    this.#nowMs = Math.max(this.#nowMs, untilMs);
  }

  /** Advances time without running timers, like a paused process. They run at the next `advance`. */
  freeze(forMs: number): void {
    this.#nowMs += forMs;
  }

  /** Advances until the work settles. @throws Error if it has not settled after `withinMs` */
  async settle<T>(work: Promise<T>, withinMs = 120_000): Promise<T> {
    let isDone = false;
    const noted = work.finally(() => {
      isDone = true;
    });
    // The caller gets the rejection from the returned promise.
    void Promise.allSettled([noted]);
    const untilMs = this.#nowMs + withinMs;
    await settlePromises();
    while (!isDone) {
      const next = this.#next(untilMs);
      if (!next) throw new Error(`not settled after ${withinMs} ms of fake time`);
      await this.advance(Math.max(0, next.dueMs - this.#nowMs));
    }
    return noted;
  }

  #next(untilMs: number): FakeTimer | undefined {
    let first: FakeTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs > untilMs) continue;
      const isEarlier =
        !first || timer.dueMs < first.dueMs || (timer.dueMs === first.dueMs && timer.order < first.order);
      if (isEarlier) first = timer;
    }
    return first;
  }
}

async function settlePromises(): Promise<void> {
  for (let turn = 0; turn < MICROTASKS_PER_STEP; turn++) await null;
}
