/**
 * Grants up to `limit` permits at a time, in request order, inside this process. Each caller requests a permit and
 * releases it once, even if it gives up before the grant.
 */
export class FifoSemaphore {
  readonly #limit: number;
  /** Granted and waiting permits, in request order. */
  readonly #permits = new Set<Permit>();
  readonly #onEmpty: () => void;

  constructor(limit: number, onEmpty: () => void = () => {}) {
    this.#limit = limit;
    this.#onEmpty = onEmpty;
  }

  request(): Permit {
    const permit = new Permit((released) => this.#release(released));
    this.#permits.add(permit);
    this.#grantFirst();
    return permit;
  }

  #release(permit: Permit): void {
    if (!this.#permits.delete(permit)) return;
    this.#grantFirst();
    if (this.#permits.size === 0) this.#onEmpty();
  }

  #grantFirst(): void {
    let index = 0;
    for (const permit of this.#permits) {
      if (index === this.#limit) return;
      permit.grant();
      index += 1;
    }
  }
}

export class Permit {
  readonly #onRelease: (permit: Permit) => void;
  readonly #granted = new AbortController();

  constructor(onRelease: (permit: Permit) => void) {
    this.#onRelease = onRelease;
  }

  get isGranted(): boolean {
    return this.#granted.signal.aborted;
  }

  /** Resolves when the permit is granted, or when the signal aborts. Leaves no listener behind. */
  untilGranted(signal: AbortSignal): Promise<void> {
    const granted = this.#granted.signal;
    if (granted.aborted || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        granted.removeEventListener("abort", done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      granted.addEventListener("abort", done, { once: true });
      signal.addEventListener("abort", done, { once: true });
    });
  }

  /** Called only by the semaphore. */
  grant(): void {
    this.#granted.abort();
  }

  /** Idempotent. */
  release(): void {
    this.#onRelease(this);
  }
}
