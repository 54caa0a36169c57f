import { mock } from "node:test";

interface Timer {
  dueMs: number;
  readonly everyMs: number | null;
  readonly callback: () => void;
}

/** What `setTimeout` and `setInterval` return: as much of it as the shop's code uses. */
interface Handle {
  unref(): Handle;
}

/** Replaces the process's timers and `performance.now` until it is disposed. Time moves only with `advance`. */
export class FakeTimers implements Disposable {
  private nowMs = 0;
  private readonly timers = new Map<Handle, Timer>();
  private readonly mocks = [
    mock.method(globalThis, "setTimeout", (callback: () => void, ms = 0) => this.add(callback, ms, null)),
    mock.method(globalThis, "setInterval", (callback: () => void, ms = 0) => this.add(callback, ms, ms)),
    mock.method(globalThis, "clearTimeout", (handle: Handle) => void this.timers.delete(handle)),
    mock.method(globalThis, "clearInterval", (handle: Handle) => void this.timers.delete(handle)),
    mock.method(performance, "now", () => this.nowMs),
  ];

  /** Runs the timers that become due, in the order of their times. */
  advance(ms: number): void {
    const endMs = this.nowMs + ms;
    for (;;) {
      const [next] = [...this.timers].toSorted(([, a], [, b]) => a.dueMs - b.dueMs);
      if (!next || next[1].dueMs > endMs) break;
      this.fire(...next);
    }
    this.nowMs = endMs;
  }

  [Symbol.dispose](): void {
    for (const { mock: replaced } of this.mocks) replaced.restore();
  }

  private add(callback: () => void, ms: number, everyMs: number | null): Handle {
    const handle: Handle = { unref: () => handle };
    this.timers.set(handle, { dueMs: this.nowMs + ms, everyMs, callback });
    return handle;
  }

  private fire(handle: Handle, timer: Timer): void {
    this.nowMs = timer.dueMs;
    if (timer.everyMs === null) this.timers.delete(handle);
    else timer.dueMs += timer.everyMs;
    timer.callback();
  }
}
