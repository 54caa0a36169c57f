import { MinHeap } from "./min-heap";

interface Spanning {
  readonly fromNs: number;
  readonly toNs: number;
}

/**
 * Gives each span a row of its lane, the lowest that is free when it begins, so that spans which overlap lie one above
 * the other. A lane's depth is how many rows it needs: the most spans inside at once. `spans` by their beginning. O(n log n).
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
    for (let over = this.taken.peek(); over && over.toNs <= fromNs; over = this.taken.peek()) {
      this.taken.pop();
      this.free.push(over.row);
    }
    const row = this.free.pop() ?? this.depth++;
    this.taken.push({ toNs, row });
    return row;
  }
}
