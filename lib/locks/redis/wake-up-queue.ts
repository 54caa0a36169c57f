import type { Clock } from "../clock";
import type { RedisSubscriber } from "./redis-subscriber";

/**
 * The waiters of this process, by channel. All waiters of a channel share one subscription, and each message wakes one
 * waiter, because only one can acquire the lock. A waiter that leaves without using its wake-up passes it to the next.
 */
export class WakeUpQueue {
  readonly #subscriber: RedisSubscriber;
  readonly #wakingMessage: string;
  readonly #channels = new Map<string, ChannelWaiters>();

  constructor(subscriber: RedisSubscriber, wakingMessage: string) {
    this.#subscriber = subscriber;
    this.#wakingMessage = wakingMessage;
  }

  /** A waiter that joins the channel's queue with its first `wait`. */
  waiter(channel: string): Waiter {
    return new Waiter(() => this.#waitersOf(channel));
  }

  /** The waiters of a channel. Subscribes with the first waiter and unsubscribes with the last. */
  #waitersOf(channel: string): ChannelWaiters {
    const known = this.#channels.get(channel);
    if (known) return known;
    const waiters = new ChannelWaiters(() => {
      this.#channels.delete(channel);
      unsubscribe();
    });
    this.#channels.set(channel, waiters);
    const unsubscribe = this.#subscriber.subscribe(channel, (event) => {
      // Without a connection no message can arrive, so every waiter tries and gets the server's answer or an error.
      if (event.kind === "lost") waiters.wakeAll();
      // A message may have been missed before the subscription was confirmed, so one waiter tries.
      else if (event.kind !== "message" || event.text === this.#wakingMessage) waiters.wakeOne();
    });
    return waiters;
  }
}

class ChannelWaiters {
  /** In arrival order. */
  readonly all = new Set<Waiter>();
  readonly #onEmpty: () => void;

  constructor(onEmpty: () => void) {
    this.#onEmpty = onEmpty;
  }

  /** Wakes the first waiter that sleeps. Otherwise marks the first that is trying: its "held" answer may be outdated. */
  wakeOne(): void {
    const waiters = [...this.all];
    (waiters.find((waiter) => waiter.isWaiting) ?? waiters.find((waiter) => !waiter.isWokenUp))?.wakeUp();
  }

  wakeAll(): void {
    for (const waiter of [...this.all]) if (waiter.isWaiting) waiter.wakeUp();
  }

  remove(waiter: Waiter): void {
    this.all.delete(waiter);
    if (this.all.size === 0) this.#onEmpty();
  }
}

/**
 * One waiter: outside -> queued -> outside. It has at most one pending wake-up, which is used up when the server answers
 * the waiter's next try.
 */
export class Waiter {
  readonly #join: () => ChannelWaiters;
  #queue: ChannelWaiters | null = null;
  #resume: (() => void) | null = null;
  /** Woken up, and no try sent since. */
  #isWokenUp = false;
  /** The try that this wake-up caused is still unanswered. */
  #isTryPending = false;

  constructor(join: () => ChannelWaiters) {
    this.#join = join;
  }

  get isWaiting(): boolean {
    return this.#resume !== null;
  }

  get isWokenUp(): boolean {
    return this.#isWokenUp;
  }

  wakeUp(): void {
    this.#isWokenUp = true;
    this.#resume?.();
  }

  /** Call when a try is sent: it uses the wake-up. */
  tryStarted(): void {
    this.#isTryPending = this.#isWokenUp;
    this.#isWokenUp = false;
  }

  /** Call when the server has answered the try. After a grant, the release of that lock wakes the next waiter. */
  tryAnswered(status: "granted" | "held"): void {
    this.#isTryPending = false;
    if (status === "held") return;
    this.#isWokenUp = false;
    this.leave();
  }

  /** Resolves on a wake-up, after `limitMs`, or when the signal aborts. Leaves no timer behind. */
  wait(clock: Clock, limitMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#queue) {
      this.#queue = this.#join();
      this.#queue.all.add(this);
    }
    if (this.#isWokenUp || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#resume = null;
        clock.clearTimer(timer);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = clock.setTimer(limitMs, done);
      this.#resume = done;
      signal.addEventListener("abort", done, { once: true });
    });
  }

  leave(): void {
    const queue = this.#queue;
    if (!queue) return;
    this.#queue = null;
    const hasUnusedWakeUp = this.#isWokenUp || this.#isTryPending;
    queue.all.delete(this);
    if (hasUnusedWakeUp) queue.wakeOne();
    queue.remove(this);
  }
}
