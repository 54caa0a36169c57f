import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** One hold as its process saw it; times are nanoseconds of the host's monotonic clock. */
export interface ProcessHold {
  readonly holderId: string;
  readonly fromNs: bigint;
  readonly toNs: bigint;
  /** Null where the strategy has none. */
  readonly fencingToken: bigint | null;
}

export interface LockProcessOrder {
  readonly strategyId: string;
  readonly resource: string;
  readonly ttlMs: number;
  readonly waitTimeoutMs: number;
  /** Callers in the process at the same time, and holds by each. */
  readonly callers: number;
  readonly holdsEach: number;
  readonly holdMs: number;
}

/** What the process says, as it happens. Times are decimal strings: JSON has no bigint. */
export type LockProcessMessage =
  | { readonly type: "ready" }
  | { readonly type: "granted"; readonly atNs: string }
  | { readonly type: "lost"; readonly atNs: string }
  | {
      readonly type: "hold";
      readonly holderId: string;
      readonly fromNs: string;
      readonly toNs: string;
      readonly fencingToken: string | null;
    }
  | { readonly type: "contended" }
  | { readonly type: "failed"; readonly message: string }
  | { readonly type: "done" };

/** Another process that uses a lock, for exclusion, crash and pause across processes. */
export class LockProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly messages: LockProcessMessage[] = [];

  constructor(order: LockProcessOrder) {
    const script = fileURLToPath(new URL("./lock-process-main.ts", import.meta.url));
    this.#child = fork(script, [JSON.stringify(order)], { execArgv: ["--import", "tsx"] });
    this.#child.on("message", (message) => this.messages.push(message as LockProcessMessage));
    this.#child.on("exit", (code) => {
      if (code) this.messages.push({ type: "failed", message: `exit code ${code}` });
    });
  }

  has(type: LockProcessMessage["type"]): boolean {
    return this.messages.some((message) => message.type === type);
  }

  go(): void {
    this.#child.send("go");
  }

  signal(name: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
    this.#child.kill(name);
  }

  holds(): ProcessHold[] {
    return this.messages.flatMap((message) => {
      if (message.type !== "hold") return [];
      const { holderId, fromNs, toNs, fencingToken: token } = message;
      const fencingToken = token === null ? null : BigInt(token);
      return [{ holderId, fromNs: BigInt(fromNs), toNs: BigInt(toNs), fencingToken }];
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exit;
  }
}
