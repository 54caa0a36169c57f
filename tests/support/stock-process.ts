import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { StockOutcome, StockTarget } from "../../lib/stock/types";
import { testProgram } from "./test-program";

export interface StockProcessOrder {
  readonly strategyId: string;
  readonly target: StockTarget;
  /** One concurrent purchase per buyer. */
  readonly buyerIds: readonly string[];
  readonly holdMs: number;
  readonly waitTimeoutMs: number;
  /** Sends "at the order" and stops between the counter and PostgreSQL. */
  readonly stopBeforeOrder?: boolean;
}

export type StockProcessMessage =
  | { readonly type: "ready" | "at the order" }
  | { readonly type: "done"; readonly statuses: readonly StockOutcome["status"][] }
  | { readonly type: "failed"; readonly message: string };

/** A separate process that buys like a store node. */
export class StockProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly messages: StockProcessMessage[] = [];

  constructor(order: StockProcessOrder) {
    const { file, execArgv } = testProgram("tests/support/stock-process-main.ts");
    this.#child = fork(file, [JSON.stringify(order)], { execArgv: [...execArgv] });
    this.#child.on("message", (message) => this.messages.push(message as StockProcessMessage));
    this.#child.on("exit", (code) => {
      if (code) this.messages.push({ type: "failed", message: `exit code ${code}` });
    });
  }

  /** @throws Error if the process failed */
  has(type: StockProcessMessage["type"]): boolean {
    const failure = this.messages.find((message) => message.type === "failed");
    if (failure?.type === "failed") throw new Error(failure.message);
    return this.messages.some((message) => message.type === type);
  }

  go(): void {
    this.#child.send("go");
  }

  statuses(): readonly StockOutcome["status"][] {
    return this.messages.flatMap((message) => (message.type === "done" ? message.statuses : []));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exit;
  }
}
