import type { TestSetup } from "./test-setup";
import { Worker } from "./worker";

const SIZE = 3;

/** The workers of a test file. They start with the first case that needs them and are reused, because a start is expensive. */
let workers: readonly Worker[] = [];

/** Three workers, each with the strategy open. Replaces workers that a case has killed. */
export async function openWorkers(setup: TestSetup): Promise<readonly Worker[]> {
  const kept = workers.filter((worker) => !worker.isGone);
  const added = Array.from({ length: SIZE - kept.length }, () => new Worker());
  workers = [...kept, ...added];
  await Promise.all(added.map((worker) => worker.until("ready")));
  for (const worker of workers) worker.send({ kind: "open", setup });
  await Promise.all(workers.map((worker) => worker.until("opened")));
  return workers;
}

/** Lets the workers exit. @throws Error if one does not */
export async function endWorkers(): Promise<void> {
  const ended = await Promise.allSettled(workers.map((worker) => worker.end()));
  await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()));
  for (const result of ended) if (result.status === "rejected") throw result.reason;
}
