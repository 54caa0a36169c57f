import { mkdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundle } from "../../../bin/build/bundle";
import { ROOT } from "../../../bin/supervisor/paths";

const MAIN = "tests/conformance/suite/worker-main.ts";
const FOLDER = path.join(ROOT, ".lab");

/** The workers' program as JavaScript. A worker starts in a third of the CPU time that it takes under tsx. */
export interface WorkerScript extends AsyncDisposable {
  readonly script: string;
  /** URL of the bundled external lock. It shares modules with the script. */
  readonly module: string | undefined;
}

/** @param module URL of the TypeScript module of a lock that is not in all-locks.ts */
export async function buildWorkerScript(module: string | undefined): Promise<WorkerScript> {
  mkdirSync(FOLDER, { recursive: true });
  // Inside the repository, so that packages resolve.
  const outDir = await mkdtemp(path.join(FOLDER, "conformance-worker-"));
  const entryPoints: Record<string, string> = { worker: MAIN };
  if (module !== undefined) entryPoints.external = path.relative(ROOT, fileURLToPath(module));
  await bundle({ entryPoints, outDir, splitting: true });
  return {
    script: path.join(outDir, "worker.mjs"),
    module: module === undefined ? undefined : pathToFileURL(path.join(outDir, "external.mjs")).href,
    [Symbol.asyncDispose]: () => rm(outDir, { recursive: true, force: true }),
  };
}
