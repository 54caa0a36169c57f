/** A point that work waits at until the test opens it. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
  /** Work that has come to the gate says so. */
  readonly reached: Promise<void>;
  /** Says that the gate is reached, and waits until it is open. */
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
