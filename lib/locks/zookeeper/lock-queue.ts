/**
 * The queue of contenders under a lock's node, in Curator's layout: `_c_<uuid>-lock-<10 digits>`. kazoo's names
 * (`<32 hex>__lock__<10 digits>`) count as well, so that a kazoo client told to see ours is seen by us.
 */
const CONTENDER = /(?:-lock-|__lock__)(\d{10})$/;

export interface QueuePlace {
  /** False when the node is not (or no longer) in the queue. */
  readonly isQueued: boolean;
  /** The contender right before; null when first. */
  readonly predecessor: string | null;
}

/** Name to create with; the server appends the sequence number. The uuid finds the node when the reply is lost. */
export function contenderPrefix(uuid: string): string {
  return `_c_${uuid}-lock-`;
}

export function placeOf(own: string, children: readonly string[]): QueuePlace {
  const ownSequence = sequenceOf(own);
  let predecessor: string | null = null;
  let highest = -1;
  let isQueued = false;
  for (const child of children) {
    if (child === own) isQueued = true;
    const sequence = sequenceOf(child);
    if (sequence < ownSequence && sequence > highest) {
      highest = sequence;
      predecessor = child;
    }
  }
  return { isQueued, predecessor };
}

/** -1 for what is no contender. */
function sequenceOf(child: string): number {
  const digits = CONTENDER.exec(child)?.[1];
  return digits === undefined ? -1 : Number(digits);
}
