import { type ChildProcess, fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { RangeResult } from "../sale/run-seeds";
import type { Order } from "./orders";

const MAIN = fileURLToPath(new URL("./runner-main.ts", import.meta.url));
/** Worlds are short-lived: with room for a few, hardly anything lives until a collection. */
const NODE_FLAGS = ["--enable-source-maps", "--max-semi-space-size=32"];

interface Waiting {
  readonly order: Order;
  readonly settle: (result: RangeResult | Error) => void;
}

/**
 * A process for each core that runs worlds, with the simulator and the locks bundled into one plain script. tsx gives
 * every closure its name when it is made, which is two fifths of a world's time, and loads a hundred files a process.
 */
export class Runners implements AsyncDisposable {
  readonly #folder: string;
  readonly #children: readonly ChildProcess[];
  readonly #idle: ChildProcess[];
  readonly #waiting: Waiting[] = [];
  #failure: Error | null = null;

  static async start(count: number = availableParallelism()): Promise<Runners> {
    const folder = await mkdtemp(path.join(tmpdir(), "simulator-"));
    const script = path.join(folder, "runner.mjs");
    await build({
      entryPoints: [MAIN],
      outfile: script,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      sourcemap: true,
      logLevel: "error",
    });
    return new Runners(folder, script, count);
  }

  private constructor(folder: string, script: string, count: number) {
    this.#folder = folder;
    this.#children = Array.from({ length: count }, () =>
      fork(script, [], { execArgv: NODE_FLAGS, serialization: "advanced" }),
    );
    this.#idle = [...this.#children];
    for (const child of this.#children)
      child.once("exit", (code, signal) => this.#fail(new Error(`a simulator process ended with ${code ?? signal}`)));
  }

  /** Rejects when its process ends on the way, or has. */
  run(order: Order): Promise<RangeResult> {
    return new Promise((resolve, reject) => {
      const settle = (result: RangeResult | Error) => (result instanceof Error ? reject(result) : resolve(result));
      this.#waiting.push({ order, settle });
      this.#next();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#fail(new Error("the simulator's processes have been stopped"));
    for (const child of this.#children) child.kill();
    await rm(this.#folder, { recursive: true });
  }

  #next(): void {
    if (this.#failure) {
      for (const { settle } of this.#waiting.splice(0)) settle(this.#failure);
      return;
    }
    const child = this.#waiting.length > 0 ? this.#idle.pop() : undefined;
    const waiting = child && this.#waiting.shift();
    if (!child || !waiting) return;
    const end = (result: RangeResult | Error) => {
      child.off("message", onMessage);
      child.off("exit", onExit);
      if (!(result instanceof Error)) this.#idle.push(child);
      waiting.settle(result);
      this.#next();
    };
    const onMessage = (result: unknown) => end(result as RangeResult);
    const onExit = () => end(this.#failure ?? new Error("a simulator process ended"));
    child.once("message", onMessage);
    child.once("exit", onExit);
    child.send(waiting.order);
  }

  #fail(failure: Error): void {
    this.#failure ??= failure;
    this.#next();
  }
}
