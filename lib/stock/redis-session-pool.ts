import type { RedisSession } from "../locks/redis/redis-port";

export interface BorrowLimits {
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A pool of connections for exclusive use. It opens connections on demand, lends them in FIFO order and discards those
 * that failed.
 */
export class RedisSessionPool implements AsyncDisposable {
  private readonly idle: RedisSession[] = [];
  private readonly lent = new Set<RedisSession>();
  /** Borrowers that wait for a session, in FIFO order. */
  private readonly waiting = new Set<(session: RedisSession) => void>();

  constructor(
    private readonly open: () => RedisSession,
    private readonly size: number,
  ) {}

  /** @returns null when no connection became free within the limits */
  async borrow({ limitMs, signal }: BorrowLimits): Promise<RedisSession | null> {
    const session = this.takeIdle();
    if (session) return session;
    return new Promise((resolve) => {
      const end = (got: RedisSession | null) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        this.waiting.delete(end);
        resolve(got);
      };
      const giveUp = () => end(null);
      const timer = setTimeout(giveUp, Math.max(0, limitMs));
      this.waiting.add(end);
      if (signal?.aborted) giveUp();
      else signal?.addEventListener("abort", giveUp, { once: true });
    });
  }

  /** Returns a session. A caller whose session may still watch keys closes it first. */
  giveBack(session: RedisSession): void {
    this.lent.delete(session);
    if (!session.isLost) this.idle.push(session);
    const [first] = this.waiting;
    const next = first ? this.takeIdle() : null;
    if (next) first?.(next);
  }

  private takeIdle(): RedisSession | null {
    for (let session = this.idle.pop(); session; session = this.idle.pop()) {
      if (!session.isLost) return this.lend(session);
    }
    return this.lent.size < this.size ? this.lend(this.open()) : null;
  }

  private lend(session: RedisSession): RedisSession {
    this.lent.add(session);
    return session;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of [...this.idle.splice(0), ...this.lent]) session.close();
  }
}
