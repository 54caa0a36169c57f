/** Bytes as one read of a socket delivered them. */
export interface Chunk {
  readonly data: Buffer;
  /** When the proxy read them, on the proxy's clock. */
  readonly atMs: number;
}

/** `half`: the sender has sent all its data. `closed`: a toxic ends the connection after the data before it. */
export type QueueEnd = "half" | "closed";

const DEFAULT_CAPACITY_BYTES = 64 * 1024;

/** Chunks between two steps of one direction of a connection. A writer must wait while the queue is full. */
export class ChunkQueue {
  private readonly chunks: Chunk[] = [];
  private bytes = 0;
  private ending: QueueEnd | null = null;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly capacityBytes = DEFAULT_CAPACITY_BYTES) {}

  get isFull(): boolean {
    return this.bytes >= this.capacityBytes;
  }

  get first(): Chunk | undefined {
    return this.chunks[0];
  }

  /** Set once every chunk was taken. */
  get end(): QueueEnd | null {
    return this.chunks.length === 0 ? this.ending : null;
  }

  push(chunk: Chunk): void {
    if (this.ending !== null) return;
    this.chunks.push(chunk);
    this.bytes += chunk.data.length;
    this.notify();
  }

  /** Removes the first `size` bytes of the first chunk. */
  take(size: number): Chunk {
    const [chunk] = this.chunks;
    if (!chunk) throw new Error("the queue is empty");
    const data = chunk.data.subarray(0, size);
    if (data.length === chunk.data.length) this.chunks.shift();
    else this.chunks[0] = { ...chunk, data: chunk.data.subarray(size) };
    this.bytes -= data.length;
    this.notify();
    return { ...chunk, data };
  }

  /** The first end counts, but `closed` replaces `half`. */
  finish(end: QueueEnd): void {
    if (this.ending !== "closed") this.ending = end;
    this.notify();
  }

  /** Moves everything, including the end, behind what `other` holds. */
  moveTo(other: ChunkQueue): void {
    for (const chunk of this.chunks.splice(0)) other.push(chunk);
    this.bytes = 0;
    if (this.ending !== null) other.finish(this.ending);
    this.notify();
  }

  /** Calls back once, at the next change. @returns how to cancel it */
  onceChanged(callback: () => void): () => void {
    this.waiting.add(callback);
    return () => this.waiting.delete(callback);
  }

  private notify(): void {
    const callbacks = [...this.waiting];
    this.waiting.clear();
    for (const callback of callbacks) callback();
  }
}
