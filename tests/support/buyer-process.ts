import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { StockOutcome, StockTarget } from "../../lib/stock/types";
import type { TestPostgresOptions } from "./postgres-for-tests";
import { testProgram } from "./test-program";
import { waitUntil } from "./wait-until";

export interface BuyerTask {
  readonly strategyId: string;
  readonly postgres: Pick<TestPostgresOptions, "rowLock" | "advisory">;
  readonly target: StockTarget;
  /** One concurrent purchase per buyer. */
  readonly buyerIds: readonly string[];
  readonly quantity: number;
  /** Default: 2 ms. */
  readonly holdMs?: number;
}

export type BuyerTaskMessage =
  | { readonly type: "ready" }
  | { readonly type: "done"; readonly statuses: readonly StockOutcome["status"][] }
  | { readonly type: "failed"; readonly message: string };

/** A separate process that executes purchase tasks. Tests reuse it, because a start costs more than the purchases. */
export class BuyerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  #latest: BuyerTaskMessage | null = null;

  constructor() {
    const { file, execArgv } = testProgram("tests/support/buyer-process-main.ts");
    this.#child = fork(file, { execArgv: [...execArgv] });
    this.#child.on("message", (message) => {
      this.#latest = message as BuyerTaskMessage;
    });
    this.#child.on("exit", (code) => {
      this.#latest = { type: "failed", message: `the buyer process exited with ${code}` };
    });
  }

  async ask(message: BuyerTask | "go"): Promise<BuyerTaskMessage> {
    this.#latest = null;
    this.#child.send(message);
    await waitUntil(() => this.#latest !== null, { what: "the answer of a buyer process", withinMs: 60_000 });
    const latest = this.#latest as BuyerTaskMessage | null;
    if (latest?.type !== "ready" && latest?.type !== "done") throw new Error(latest?.message);
    return latest;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exit;
  }
}

/** Starts the purchases of all processes at the same time. @returns all statuses */
export async function buyTogether(
  processes: readonly BuyerProcess[],
  task: BuyerTask,
): Promise<readonly StockOutcome["status"][]> {
  await Promise.all(processes.map((buyer) => buyer.ask(task)));
  const answers = await Promise.all(processes.map((buyer) => buyer.ask("go")));
  return answers.flatMap((answer) => (answer.type === "done" ? answer.statuses : []));
}
