import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { testProgram } from "../../support/test-program";
import { waitUntil } from "../../support/wait-until";
import type { WorkerCommand, WorkerMessage } from "./worker-protocol";

const LIMIT_MS = 40_000;

/** Another process that uses the strategy, to test exclusion between processes, a crash or a pause. */
export class Worker implements AsyncDisposable {
  readonly #child: ChildProcess;
  #messages: WorkerMessage[] = [];
  #isClosed = true;
  #wasKilled = false;

  constructor() {
    const { file, execArgv } = testProgram("tests/conformance/suite/worker-main.ts");
    this.#child = fork(file, { execArgv: [...execArgv] });
    this.#child.on("message", (message) => this.#messages.push(message as WorkerMessage));
    this.#child.on("exit", (code, signal) => {
      if (code) this.#messages.push({ type: "failed", message: `the worker exited with ${code ?? signal}` });
    });
  }

  /** Messages since the last command. */
  get messages(): readonly WorkerMessage[] {
    return this.#messages;
  }

  /** Sends a command and returns at once; `until` waits for its result. */
  send(command: WorkerCommand): void {
    if (command.kind === "open") this.#isClosed = false;
    this.#messages = [];
    this.#child.send(command);
  }

  /** @throws Error if the worker fails or does not send the message in time */
  async until<T extends WorkerMessage["type"]>(type: T): Promise<Extract<WorkerMessage, { type: T }>> {
    await waitUntil(() => this.#messages.some((message) => message.type === type || message.type === "failed"), {
      what: `the message "${type}" of a worker`,
      withinMs: LIMIT_MS,
    });
    const failure = this.#messages.find((message) => message.type === "failed");
    if (failure?.type === "failed") throw new Error(failure.message);
    return this.#messages.find((message) => message.type === type) as Extract<WorkerMessage, { type: T }>;
  }

  /** Disposes the strategy, once. @returns the resources that are left */
  async close(): Promise<readonly string[]> {
    if (this.#isClosed) return [];
    this.#isClosed = true;
    this.send({ kind: "close" });
    return (await this.until("closed")).left;
  }

  signal(name: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
    if (name === "SIGKILL") this.#wasKilled = true;
    this.#child.kill(name);
  }

  /** @throws Error if the idle process does not exit */
  async end(): Promise<void> {
    if (this.isGone) return;
    this.send({ kind: "end" });
    await waitUntil(() => this.isGone, { what: "an idle worker to exit", withinMs: LIMIT_MS });
    if (this.#child.exitCode !== 0) throw new Error(`a worker exited with ${this.#child.exitCode}`);
  }

  /** True from the kill on: a killed worker answers no command, although its exit may be reported later. */
  get isGone(): boolean {
    return this.#wasKilled || this.#hasExited;
  }

  get #hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#hasExited) return;
    const exit = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exit;
  }
}
