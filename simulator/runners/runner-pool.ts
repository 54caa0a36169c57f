import { type ChildProcess, fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { SeedRangeResult } from "../sale/run-seeds";
import type { SeedBatch } from "./seed-batch";

const MAIN = fileURLToPath(new URL("./runner-main.ts", import.meta.url));
/** Worlds are short-lived. In a large young generation most of their objects die before a collection. */
const NODE_FLAGS = ["--enable-source-maps", "--max-semi-space-size=32"];

interface QueuedBatch {
  readonly batch: SeedBatch;
  readonly settle: (result: SeedRangeResult | Error) => void;
}

/**
 * A pool of processes, one per core, that run batches of worlds. The simulator and the locks are bundled into one script:
 * under tsx, setting the name of every closure takes two fifths of a world's run time, and each process loads a hundred files.
 */
export class RunnerPool implements AsyncDisposable {
  readonly #folder: string;
  readonly #children: readonly ChildProcess[];
  readonly #idle: ChildProcess[];
  readonly #queue: QueuedBatch[] = [];
  #failure: Error | null = null;

  static async start(count: number = availableParallelism()): Promise<RunnerPool> {
    const folder = await mkdtemp(path.join(tmpdir(), "simulator-"));
    const script = path.join(folder, "runner.cjs");
    await build({
      entryPoints: [MAIN],
      outfile: script,
      bundle: true,
      platform: "node",
      format: "cjs",
      target: "node20",
      sourcemap: true,
      logLevel: "error",
    });
    return new RunnerPool(folder, script, count);
  }

  private constructor(folder: string, script: string, count: number) {
    this.#folder = folder;
    this.#children = Array.from({ length: count }, () =>
      fork(script, [], { execArgv: NODE_FLAGS, serialization: "advanced" }),
    );
    this.#idle = [...this.#children];
    for (const child of this.#children)
      child.once("exit", (code, signal) => this.#fail(new Error(`A simulator process exited with ${code ?? signal}.`)));
  }

  /** Queues a batch. Rejects if a process of the pool exits. */
  run(batch: SeedBatch): Promise<SeedRangeResult> {
    return new Promise((resolve, reject) => {
      const settle = (result: SeedRangeResult | Error) => (result instanceof Error ? reject(result) : resolve(result));
      this.#queue.push({ batch, settle });
      this.#next();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#fail(new Error("The simulator processes were stopped."));
    for (const child of this.#children) child.kill();
    await rm(this.#folder, { recursive: true });
  }

  #next(): void {
    if (this.#failure) {
      for (const { settle } of this.#queue.splice(0)) settle(this.#failure);
      return;
    }
    const child = this.#queue.length > 0 ? this.#idle.pop() : undefined;
    const queued = child && this.#queue.shift();
    if (!child || !queued) return;
    const end = (result: SeedRangeResult | Error) => {
      child.off("message", onMessage);
      child.off("exit", onExit);
      if (!(result instanceof Error)) this.#idle.push(child);
      queued.settle(result);
      this.#next();
    };
    const onMessage = (result: unknown) => end(result as SeedRangeResult);
    const onExit = () => end(this.#failure ?? new Error("A simulator process exited."));
    child.once("message", onMessage);
    child.once("exit", onExit);
    child.send(queued.batch);
  }

  #fail(failure: Error): void {
    this.#failure ??= failure;
    this.#next();
  }
}
