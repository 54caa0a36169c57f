import type { SimProcess } from "./process";

/** Priorities of events that are due at the same time. After a stall, Node runs timers before it reads sockets. */
export const TIMER = 0;
export const CHECK = 1;
export const IO = 2;

export interface SimEvent {
  atMs: number;
  readonly priority: number;
  order: number;
  /** The process that runs the event: its pause delays the event, its crash drops it. Null for servers and the network. */
  readonly process: SimProcess | null;
  /** Null when cancelled. */
  run: (() => void) | null;
}

/** A binary heap ordered by time, then priority, then order of insertion. */
export class EventQueue {
  readonly #heap: SimEvent[] = [];
  #order = 0;

  push(event: SimEvent): void {
    event.order = this.#order++;
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt] as SimEvent;
      if (!isBefore(event, parent)) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = event;
  }

  /** Removes and returns the next event that is not cancelled, if it is due by `limitMs`. */
  popUntil(limitMs: number): SimEvent | undefined {
    for (;;) {
      const first = this.#heap[0];
      if (!first || (first.run && first.atMs > limitMs)) return undefined;
      this.#removeFirst();
      if (first.run) return first;
    }
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    const { length } = heap;
    let at = 0;
    for (;;) {
      let childAt = 2 * at + 1;
      if (childAt >= length) break;
      const right = heap[childAt + 1];
      if (right && isBefore(right, heap[childAt] as SimEvent)) childAt += 1;
      const child = heap[childAt] as SimEvent;
      if (!isBefore(child, last)) break;
      heap[at] = child;
      at = childAt;
    }
    heap[at] = last;
  }
}

function isBefore(one: SimEvent, other: SimEvent): boolean {
  if (one.atMs !== other.atMs) return one.atMs < other.atMs;
  if (one.priority !== other.priority) return one.priority < other.priority;
  return one.order < other.order;
}
