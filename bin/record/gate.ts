/** Holds back what a buyer sends until it opens. */
export class Gate {
  private readonly opened = signal();
  private readonly reached = signal();

  /** Resolves when something waits at the gate, or has passed it. */
  get arrival(): Promise<void> {
    return this.reached.fired;
  }

  pass(): Promise<void> {
    this.reached.fire();
    return this.opened.fired;
  }

  open(): void {
    this.opened.fire();
  }
}

function signal(): { readonly fired: Promise<void>; readonly fire: () => void } {
  let fire = () => {};
  const fired = new Promise<void>((resolve) => {
    fire = resolve;
  });
  return { fired, fire };
}
