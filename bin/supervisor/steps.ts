import type { Step } from "./state";

/** A start as a list of named, timed steps: printed as they finish, and kept in the state file. */

/** A step failed, but the lab works without it. The message holds the reason and the fix. */
export class MissingError extends Error {
  readonly reason: string;
  readonly fix: string;

  constructor(missing: { readonly reason: string; readonly fix: string }) {
    super(`${missing.reason}; ${missing.fix}`);
    this.reason = missing.reason;
    this.fix = missing.fix;
  }
}

export class StepList {
  readonly steps: Step[] = [];
  private readonly onChange: (step: Step) => void;

  constructor(onChange: (step: Step) => void) {
    this.onChange = onChange;
  }

  /**
   * Runs a step and records its detail and time.
   * @returns null after a MissingError
   * @throws any other error of `work`
   */
  async run<T extends { readonly detail: string }>(name: string, work: () => Promise<T>): Promise<T | null> {
    const startedMs = performance.now();
    this.set({ name, status: "running", detail: "", durationMs: 0 });
    const end = (status: Step["status"], detail: string) =>
      this.set({ name, status, detail, durationMs: Math.round(performance.now() - startedMs) });
    try {
      const result = await work();
      end("done", result.detail);
      return result;
    } catch (error) {
      if (error instanceof MissingError) {
        end("missing", error.message);
        return null;
      }
      end("failed", error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  /** Adds a finished step. */
  add(step: Step): void {
    this.set(step);
  }

  private set(step: Step): void {
    const index = this.steps.findIndex((known) => known.name === step.name);
    if (index >= 0) this.steps.splice(index, 1);
    const firstRunning = this.steps.findIndex((known) => known.status === "running");
    if (step.status === "running" || firstRunning < 0) this.steps.push(step);
    else this.steps.splice(firstRunning, 0, step);
    this.onChange(step);
  }
}
