import { MinHeap } from "./min-heap";

interface Spanning {
  readonly fromNs: number;
  readonly toNs: number;
}

/**
 * Assigns each span the lowest free row of its lane, so that overlapping spans have different rows. A lane's depth is
 * the number of rows it needs. `spans` must be sorted by start; `lanes[i]` is the lane of `spans[i]`. O(n log n).
 */
export function packRows(
  spans: readonly Spanning[],
  lanes: readonly number[],
  laneCount: number,
): { rows: number[]; depths: number[] } {
  const packers = Array.from({ length: laneCount }, () => new LanePacker());
  const rows = spans.map((span, index) => packers[lanes[index] ?? 0]?.rowFor(span) ?? 0);
  return { rows, depths: packers.map(({ depth }) => depth) };
}

class LanePacker {
  depth = 0;
  private readonly taken = new MinHeap<{ readonly toNs: number; readonly row: number }>(({ toNs }) => toNs);
  private readonly free = new MinHeap<number>((row) => row);

  rowFor({ fromNs, toNs }: Spanning): number {
    for (let ended = this.taken.peek(); ended && ended.toNs <= fromNs; ended = this.taken.peek()) {
      this.taken.pop();
      this.free.push(ended.row);
    }
    const row = this.free.pop() ?? this.depth++;
    this.taken.push({ toNs, row });
    return row;
  }
}
