/** Counts how many callers of this process wait for each resource. Resources without waiters are not stored. */
export class WaiterCounts {
  readonly #counts = new Map<string, number>();

  of(resource: string): number {
    return this.#counts.get(resource) ?? 0;
  }

  /** @returns a function that removes the caller; call it once */
  join(resource: string): () => void {
    this.#counts.set(resource, this.of(resource) + 1);
    return () => {
      const left = this.of(resource) - 1;
      if (left > 0) this.#counts.set(resource, left);
      else this.#counts.delete(resource);
    };
  }
}
