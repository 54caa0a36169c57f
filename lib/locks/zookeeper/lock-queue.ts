/**
 * The queue of contenders under a lock's node, in Curator's layout: `_c_<uuid>-lock-<10 digits>`. kazoo's names
 * (`<32 hex>__lock__<10 digits>`) count as well, so that a kazoo client told to see ours is seen by us.
 */
const CONTENDER = /(?:-lock-|__lock__)(-?\d{10})$/;

export interface QueuePosition {
  /** False when the node is not (or no longer) in the queue. */
  readonly isQueued: boolean;
  /** The contender right before; null when first. */
  readonly predecessor: string | null;
}

/** Name to create with; the server appends the sequence number. The uuid finds the node when the reply is lost. */
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

/** Null for what is no contender. */
function sequenceOf(child: string): number | null {
  const digits = CONTENDER.exec(child)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Negative when it comes before. The server counts in 32 bits and goes on below zero, so plain order fails there. */
function distanceOf(sequence: number, own: number): number {
  return (sequence - own) | 0;
}
