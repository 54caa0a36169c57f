export class MinHeap<T> {
  private readonly items: T[] = [];

  constructor(private readonly keyOf: (item: T) => number) {}

  peek(): T | undefined {
    return this.items[0];
  }

  push(item: T): void {
    let at = this.items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.keyAt(parent) <= this.keyAt(at)) return;
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
      const child = this.keyAt(left + 1) < this.keyAt(left) ? left + 1 : left;
      if (this.keyAt(child) >= this.keyAt(at)) return;
      this.swap(at, child);
      at = child;
    }
  }

  private keyAt(index: number): number {
    const item = this.items[index];
    return item === undefined ? Infinity : this.keyOf(item);
  }

  private swap(a: number, b: number): void {
    const item = this.items[a] as T;
    this.items[a] = this.items[b] as T;
    this.items[b] = item;
  }
}
