/** A point in the code under test that blocks until the test opens it. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
  /** Resolves when the code under test has reached the gate. */
  readonly reached: Promise<void>;
  /** Reports that the gate is reached, and waits until it is open. */
  pass(): Promise<void>;
}

export function makeGate(): Gate {
  const { promise: opened, resolve: open } = withResolvers();
  const { promise: reached, resolve: reach } = withResolvers();
  return {
    opened,
    open,
    reached,
    pass: () => {
      reach();
      return opened;
    },
  };
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
