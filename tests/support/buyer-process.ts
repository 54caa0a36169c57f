import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { StockOutcome, StockTarget } from "../../lib/stock/types";
import type { TestPostgresOptions } from "./postgres-for-tests";
import { waitUntil } from "./wait-until";

export interface Errand {
  readonly strategyId: string;
  readonly postgres: Pick<TestPostgresOptions, "rowLock" | "advisory">;
  readonly target: StockTarget;
  /** One purchase each, all at once. */
  readonly buyerIds: readonly string[];
  readonly quantity: number;
  /** Hardly any unless given. */
  readonly holdMs?: number;
}

export type ErrandMessage =
  | { readonly type: "ready" }
  | { readonly type: "done"; readonly statuses: readonly StockOutcome["status"][] }
  | { readonly type: "failed"; readonly message: string };

/** Another process that buys, errand after errand: starting one costs more than buying. */
export class BuyerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  #latest: ErrandMessage | null = null;

  constructor() {
    const script = fileURLToPath(new URL("./buyer-process-main.ts", import.meta.url));
    this.#child = fork(script, { execArgv: ["--import", "tsx"] });
    this.#child.on("message", (message) => {
      this.#latest = message as ErrandMessage;
    });
    this.#child.on("exit", (code) => {
      this.#latest = { type: "failed", message: `the process ended with ${code}` };
    });
  }

  async ask(message: Errand | "go"): Promise<ErrandMessage> {
    this.#latest = null;
    this.#child.send(message);
    await waitUntil(() => this.#latest !== null, { what: "a buyer's process", withinMs: 60_000 });
    const latest = this.#latest as ErrandMessage | null;
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

/** Has all processes buy at the same moment. @returns every answer */
export async function buyTogether(
  processes: readonly BuyerProcess[],
  errand: Errand,
): Promise<readonly StockOutcome["status"][]> {
  await Promise.all(processes.map((one) => one.ask(errand)));
  const answers = await Promise.all(processes.map((one) => one.ask("go")));
  return answers.flatMap((answer) => (answer.type === "done" ? answer.statuses : []));
}
