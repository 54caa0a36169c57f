/** The smallest first. */
export class MinHeap<T> {
  private readonly items: T[] = [];

  constructor(private readonly weigh: (item: T) => number) {}

  peek(): T | undefined {
    return this.items[0];
  }

  push(item: T): void {
    let at = this.items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.weightAt(parent) <= this.weightAt(at)) return;
      this.swap(at, parent);
      at = parent;
    }
  }

  pop(): T | undefined {
    const top = this.items[0];
    const last = this.items.pop();
    if (last === undefined || this.items.length === 0) return top;
    this.items[0] = last;
    this.sink();
    return top;
  }

  private sink(): void {
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const child = this.weightAt(left + 1) < this.weightAt(left) ? left + 1 : left;
      if (this.weightAt(child) >= this.weightAt(at)) return;
      this.swap(at, child);
      at = child;
    }
  }

  private weightAt(index: number): number {
    const item = this.items[index];
    return item === undefined ? Infinity : this.weigh(item);
  }

  private swap(a: number, b: number): void {
    const item = this.items[a] as T;
    this.items[a] = this.items[b] as T;
    this.items[b] = item;
  }
}
