/**
 * Lets so many in at a time, the others first come first served. Nothing is asked of a server; whoever waits holds a
 * ticket and gives it back, once, whatever happens.
 */
export class FifoSemaphore {
  readonly #width: number;
  /** In or waiting, in the order they came. */
  readonly #tickets = new Set<Ticket>();
  readonly #onEmpty: () => void;

  constructor(width: number, onEmpty: () => void = () => {}) {
    this.#width = width;
    this.#onEmpty = onEmpty;
  }

  take(): Ticket {
    const ticket = new Ticket((gone) => this.#giveBack(gone));
    this.#tickets.add(ticket);
    this.#letIn();
    return ticket;
  }

  #giveBack(ticket: Ticket): void {
    if (!this.#tickets.delete(ticket)) return;
    this.#letIn();
    if (this.#tickets.size === 0) this.#onEmpty();
  }

  #letIn(): void {
    let place = 0;
    for (const ticket of this.#tickets) {
      if (place === this.#width) return;
      ticket.letIn();
      place += 1;
    }
  }
}

export class Ticket {
  readonly #giveBack: (ticket: Ticket) => void;
  readonly #entrance = new AbortController();

  constructor(giveBack: (ticket: Ticket) => void) {
    this.#giveBack = giveBack;
  }

  get isIn(): boolean {
    return this.#entrance.signal.aborted;
  }

  /** Resolves when the holder may enter, and when the signal aborts. Leaves no listener. */
  untilIn(signal: AbortSignal): Promise<void> {
    const entrance = this.#entrance.signal;
    if (entrance.aborted || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        entrance.removeEventListener("abort", done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      entrance.addEventListener("abort", done, { once: true });
      signal.addEventListener("abort", done, { once: true });
    });
  }

  /** The turnstile's own call. */
  letIn(): void {
    this.#entrance.abort();
  }

  /** Idempotent. */
  giveBack(): void {
    this.#giveBack(this);
  }
}
