import type { Output } from "../shared/terminal";

/** Stages that run at the same time print one after the other: the first one at once, the others when it has ended. */

/** One stage's place in the order of printing. */
export interface Turn {
  readonly output: Output;
  /** Lets the next stage print. */
  end(): void;
}

export class PrintTurns {
  readonly #out: Output;
  /** In the order in which they began; the first one prints. */
  #turns: KeptTurn[] = [];

  constructor(out: Output) {
    this.#out = out;
  }

  begin(): Turn {
    const turn = new KeptTurn(() => this.#printReady());
    this.#turns.push(turn);
    this.#printReady();
    return turn;
  }

  #printReady(): void {
    for (;;) {
      const [first] = this.#turns;
      if (first === undefined) return;
      for (const text of first.takeKept()) this.#out.write(text);
      if (!first.hasEnded) return;
      this.#turns = this.#turns.slice(1);
    }
  }
}

class KeptTurn implements Turn {
  readonly output: Output;
  readonly #onChange: () => void;
  #kept: string[] = [];
  #hasEnded = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
    this.output = { write: (text) => this.#keep(text) };
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  takeKept(): readonly string[] {
    const kept = this.#kept;
    this.#kept = [];
    return kept;
  }

  end(): void {
    this.#hasEnded = true;
    this.#onChange();
  }

  #keep(text: string): void {
    this.#kept.push(text);
    this.#onChange();
  }
}
