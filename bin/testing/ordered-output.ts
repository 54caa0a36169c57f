/**
 * Lets several programs print at the same time without mixing their lines: the first prints as it goes, and the output
 * of each later one is held back until those before it have ended.
 */
export class OrderedOutput {
  readonly #write: (text: string | Uint8Array) => void;
  readonly #held: (string | Uint8Array)[][];
  readonly #ended: boolean[];
  #printing = 0;

  constructor(count: number, write: (text: string | Uint8Array) => void = (text) => void process.stdout.write(text)) {
    this.#write = write;
    this.#held = Array.from({ length: count }, () => []);
    this.#ended = Array.from({ length: count }, () => false);
  }

  write(index: number, text: string | Uint8Array): void {
    if (index === this.#printing) this.#write(text);
    else this.#held[index]?.push(text);
  }

  end(index: number): void {
    this.#ended[index] = true;
    while (this.#ended[this.#printing]) {
      this.#printing += 1;
      for (const text of this.#held[this.#printing]?.splice(0) ?? []) this.#write(text);
    }
  }
}
