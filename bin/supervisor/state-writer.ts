import type { InstancePaths } from "./paths";
import { type LabState, writeState } from "./state";

/** How long a state that could not be written waits for the next attempt. */
const RETRY_MS = 2_000;

export interface StateWriterOptions {
  readonly paths: InstancePaths;
  readonly onNote: (sentence: string) => void;
  /** Replaced in tests. */
  readonly write?: typeof writeState;
  readonly retryMs?: number;
}

/** Writes the state of a running lab. A full disk does not end the lab: the last state is written when there is space. */
export class StateWriter {
  readonly #options: StateWriterOptions;
  #timer: NodeJS.Timeout | null = null;
  #hasFailed = false;

  constructor(options: StateWriterOptions) {
    this.#options = options;
  }

  write(state: LabState): void {
    const { paths, onNote, write = writeState, retryMs = RETRY_MS } = this.#options;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    try {
      write(paths, state);
      if (this.#hasFailed) onNote("The lab's state can be written again.");
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) onNote(`The lab's state could not be written, and the lab tries again: ${error}`);
      this.#hasFailed = true;
      this.#timer = setTimeout(() => this.write(state), retryMs);
      this.#timer.unref();
    }
  }
}
