import type { Clock } from "../clock";
import type { RedisSubscriber } from "./redis-subscriber";

/**
 * The waiters of this process, channel by channel: one subscription a channel, and one waiter woken a message, since only
 * one can get the lock. A wake-up that its waiter cannot use is passed on.
 */
export class WakeUpQueue {
  readonly #subscriber: RedisSubscriber;
  readonly #wakingMessage: string;
  readonly #lines = new Map<string, Line>();

  constructor(subscriber: RedisSubscriber, wakingMessage: string) {
    this.#subscriber = subscriber;
    this.#wakingMessage = wakingMessage;
  }

  /** A place that is taken with its first wait. */
  place(channel: string): Place {
    return new Place(() => this.#line(channel));
  }

  /** The line of a channel, with its subscription; ends with its last waiter. */
  #line(channel: string): Line {
    const known = this.#lines.get(channel);
    if (known) return known;
    const line = new Line(() => {
      this.#lines.delete(channel);
      stopListening();
    });
    this.#lines.set(channel, line);
    const stopListening = this.#subscriber.subscribe(channel, (event) => {
      // Whoever waits for a message that cannot come asks the server, and learns that it is gone, if it is.
      if (event.kind === "lost") line.wakeAll();
      // Before the subscription stood a message may have been missed: one waiter looks.
      else if (event.kind !== "message" || event.text === this.#wakingMessage) line.wakeOne();
    });
    return line;
  }
}

class Line {
  /** In the order of arrival. */
  readonly places = new Set<Place>();
  readonly #end: () => void;

  constructor(end: () => void) {
    this.#end = end;
  }

  /** The first who waits; else the first who is asking just now, and may be told "held" by an answer already old. */
  wakeOne(): void {
    const places = [...this.places];
    (places.find((place) => place.isWaiting) ?? places.find((place) => !place.isCalled))?.call();
  }

  wakeAll(): void {
    for (const place of [...this.places]) if (place.isWaiting) place.call();
  }

  leave(place: Place): void {
    this.places.delete(place);
    if (this.places.size === 0) this.#end();
  }
}

/**
 * One waiter's place: outside -> in line -> outside. In line it is called at most once at a time; the call is used up by a
 * try that the server has answered.
 */
export class Place {
  readonly #join: () => Line;
  #line: Line | null = null;
  #wake: (() => void) | null = null;
  /** Called, and no try sent since. */
  #called = false;
  /** A try is under way that a call was for. */
  #answering = false;

  constructor(join: () => Line) {
    this.#join = join;
  }

  get isWaiting(): boolean {
    return this.#wake !== null;
  }

  get isCalled(): boolean {
    return this.#called;
  }

  call(): void {
    this.#called = true;
    this.#wake?.();
  }

  /** A try is sent: what the server says to it answers the call. */
  trying(): void {
    this.#answering = this.#called;
    this.#called = false;
  }

  /** The server has answered the try. A lock that was granted says by its release when the next may come. */
  answered(status: "granted" | "held"): void {
    this.#answering = false;
    if (status === "held") return;
    this.#called = false;
    this.leave();
  }

  /** Resolves when called, after `limitMs`, or when the signal aborts. Leaves no timer. */
  wait(clock: Clock, limitMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#line) {
      this.#line = this.#join();
      this.#line.places.add(this);
    }
    if (this.#called || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#wake = null;
        clock.clearTimer(timer);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = clock.setTimer(limitMs, done);
      this.#wake = done;
      signal.addEventListener("abort", done, { once: true });
    });
  }

  leave(): void {
    const line = this.#line;
    if (!line) return;
    this.#line = null;
    const isOwed = this.#called || this.#answering;
    line.places.delete(this);
    if (isOwed) line.wakeOne();
    line.leave(this);
  }
}
