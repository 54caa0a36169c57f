import type { Command } from "commander";
import type { RunDocument } from "../../lib/runs/document";
import { explainFailure, runningLabOf } from "../runs/execute";
import { EXIT } from "../runs/exit-codes";
import { newestRun, readRun, stopRun } from "../runs/lab-client";
import { labUrl } from "../runs/options";
import { print, printError } from "../shared/terminal";

interface StopFlags {
  readonly url?: string;
}

/** `npm run lab -- stop [runId]`: ends a run and its load early. */
export function addStopCommand(program: Command): void {
  program
    .command("stop")
    .description("stop a run and its load, and check what was recorded; exit 2 if it cannot be stopped")
    .argument("[runId]", "the run (default: the run in progress)")
    .option("--url <url>", "the lab (default: the lab of this checkout)", labUrl)
    .action(async (runId: string | undefined, flags: StopFlags) => {
      process.exitCode = await stop(runId, flags).catch((error: unknown) => {
        printError(explainFailure(error));
        return EXIT.inconclusive;
      });
    });
}

async function stop(runId: string | undefined, flags: StopFlags): Promise<number> {
  const lab = runningLabOf(flags);
  // The lab makes one run at a time, so only the newest one can be in progress.
  const run = runId === undefined ? await newestRun(lab) : await readRun(lab, runId);
  if (run?.status === "running") print(sentenceOf(await stopRun(lab, run.id)));
  else if (run === null || runId === undefined) print("No run is in progress.");
  else print(`Run ${run.id} had already ended: ${run.status}, ${run.verdict}.`);
  return EXIT.safe;
}

function sentenceOf({ id, status, verdict, sentences }: RunDocument): string {
  return [`Run ${id} is ${status}: ${verdict}.`, ...sentences].join("\n");
}
