import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { waitUntil } from "../../support/wait-until";
import type { WorkerMessage, WorkerOrder } from "./worker-protocol";

const LIMIT_MS = 40_000;

/** Another process that uses the strategy, for what can only be seen over several: exclusion, a crash, a pause. */
export class Worker implements AsyncDisposable {
  readonly #child: ChildProcess;
  #messages: WorkerMessage[] = [];
  #isClosed = true;

  constructor() {
    const script = fileURLToPath(new URL("./worker-main.ts", import.meta.url));
    this.#child = fork(script, { execArgv: ["--import", "tsx"] });
    this.#child.on("message", (message) => this.#messages.push(message as WorkerMessage));
    this.#child.on("exit", (code, signal) => {
      if (code) this.#messages.push({ type: "failed", message: `the worker ended with ${code ?? signal}` });
    });
  }

  /** Since the last order. */
  get messages(): readonly WorkerMessage[] {
    return this.#messages;
  }

  /** @returns once it is on its way; `until` waits for what comes of it */
  send(order: WorkerOrder): void {
    if (order.kind === "open") this.#isClosed = false;
    this.#messages = [];
    this.#child.send(order);
  }

  /** @throws Error when the worker fails, or says nothing of the kind in time */
  async until<T extends WorkerMessage["type"]>(type: T): Promise<Extract<WorkerMessage, { type: T }>> {
    await waitUntil(() => this.#messages.some((message) => message.type === type || message.type === "failed"), {
      what: `a worker to say "${type}"`,
      withinMs: LIMIT_MS,
    });
    const failure = this.#messages.find((message) => message.type === "failed");
    if (failure?.type === "failed") throw new Error(failure.message);
    return this.#messages.find((message) => message.type === type) as Extract<WorkerMessage, { type: T }>;
  }

  /** Closes the strategy, once. @returns what is left of it all the same */
  async close(): Promise<readonly string[]> {
    if (this.#isClosed) return [];
    this.#isClosed = true;
    this.send({ kind: "close" });
    return (await this.until("closed")).left;
  }

  signal(name: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
    this.#child.kill(name);
  }

  /** @throws Error when the process, told that there is nothing more to do, does not end by itself */
  async end(): Promise<void> {
    if (this.isGone) return;
    this.send({ kind: "end" });
    await waitUntil(() => this.isGone, { what: "a worker to end by itself", withinMs: LIMIT_MS });
    if (this.#child.exitCode !== 0) throw new Error(`a worker ended with ${this.#child.exitCode}`);
  }

  get isGone(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.isGone) return;
    const exit = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exit;
  }
}
