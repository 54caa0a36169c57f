/** Path of all queues unless an option changes it. */
export const QUEUE_ROOT = "/locks";

/**
 * The queue of nodes under a lock's path, in Curator's layout: `_c_<uuid>-lock-<10 digits>`. kazoo's names (`<32
 * hex>__lock__<10 digits>`) also count, so a kazoo client that is configured to see our nodes shares the queue.
 */
const QUEUE_NODE = /(?:-lock-|__lock__)(-?\d{10})$/;

export interface QueuePosition {
  /** False if the node is not in the queue. */
  readonly isQueued: boolean;
  /** The node directly before this one; null if this one is first. */
  readonly predecessor: string | null;
}

/** Name to create; the server appends the sequence number. The uuid identifies the node if the reply is lost. */
export function queueNodePrefix(uuid: string): string {
  return `_c_${uuid}-lock-`;
}

export function positionOf(own: string, children: readonly string[]): QueuePosition {
  const ownSequence = sequenceOf(own);
  let predecessor: string | null = null;
  let nearest = Number.NEGATIVE_INFINITY;
  let isQueued = false;
  for (const child of children) {
    if (child === own) isQueued = true;
    const sequence = sequenceOf(child);
    if (sequence === null || ownSequence === null) continue;
    const distance = distanceOf(sequence, ownSequence);
    if (distance < 0 && distance > nearest) {
      nearest = distance;
      predecessor = child;
    }
  }
  return { isQueued: isQueued && ownSequence !== null, predecessor };
}

/** @returns the node that holds the lock; null if the queue is empty */
export function firstOf(children: readonly string[]): string | null {
  const isFirst = (child: string) => {
    const { isQueued, predecessor } = positionOf(child, children);
    return isQueued && predecessor === null;
  };
  return children.find(isFirst) ?? null;
}

/** Null if the node is not part of the queue. */
function sequenceOf(child: string): number | null {
  const digits = QUEUE_NODE.exec(child)?.[1];
  return digits === undefined ? null : Number(digits);
}

/**
 * Negative if it comes before `own`. The server counts in 32 bits and wraps to negative numbers, so plain comparison
 * fails.
 */
function distanceOf(sequence: number, own: number): number {
  return (sequence - own) | 0;
}
