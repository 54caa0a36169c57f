import type { TestSetup } from "./test-setup";
import { Worker } from "./worker";

const SIZE = 3;

/** The workers of a test file: started with the first case that needs them, and kept, since starting one costs most. */
let workers: readonly Worker[] = [];

/** Three workers with the strategy open in each; those that a case has used up are replaced. */
export async function openWorkers(plug: TestSetup): Promise<readonly Worker[]> {
  const kept = workers.filter((worker) => !worker.isGone);
  const added = Array.from({ length: SIZE - kept.length }, () => new Worker());
  workers = [...kept, ...added];
  await Promise.all(added.map((worker) => worker.until("ready")));
  for (const worker of workers) worker.send({ kind: "open", plug });
  await Promise.all(workers.map((worker) => worker.until("opened")));
  return workers;
}

/** Lets them end by themselves. @throws Error when one does not */
export async function endWorkers(): Promise<void> {
  const ending = await Promise.allSettled(workers.map((worker) => worker.end()));
  await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()));
  for (const one of ending) if (one.status === "rejected") throw one.reason;
}
