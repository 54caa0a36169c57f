/**
 * Bounds how many contenders of this process join queues at the same time. A join is two writes that etcd must bring to
 * disk. A thousand at once would all come too late for their callers, who would take them back and try again; and the
 * few requests that hand the lock on would stand in line behind them.
 */
export class JoinGate {
  readonly #width: number;
  readonly #waiting = new Set<() => void>();
  #joining = 0;
  /** The last join failed: whoever waits need not wait to find that out as well. */
  #isFailing = false;

  constructor(width: number) {
    this.#width = width;
  }

  get hasRoom(): boolean {
    return this.#isFailing || this.#joining < this.#width;
  }

  async run<T>(join: () => Promise<T>): Promise<T> {
    this.#joining += 1;
    try {
      const joined = await join();
      this.#isFailing = false;
      return joined;
    } catch (error) {
      this.#isFailing = true;
      for (const wake of [...this.#waiting]) wake();
      throw error;
    } finally {
      this.#joining -= 1;
      const [first] = this.#waiting;
      first?.();
    }
  }

  /** Resolves when there may be room, and when the signal aborts. Leaves no listener. */
  untilRoom(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.hasRoom) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }
}
