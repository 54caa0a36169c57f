import { processSingleton } from "../services/singleton";
import { openRun, stopRun } from "./lab";
import { describeStrategy } from "./lab-description";
import { LabError } from "./lab-error";
import { readRun, readSweep } from "./queries";
import { rerunRequest } from "./rerun-request";
import { runRequestSchema } from "./run-request";
import { emptySweep, newSweepId, type SweepDocument, type SweepPlan, sweepCells } from "./sweep";
import type { SweepRequest } from "./sweep-request";
import { SweepRunner } from "./sweep-runner";

/** The sweeps that the lab makes itself, in the process that received the request. */

export function sweepRunner(): SweepRunner {
  const cells = async (plan: SweepPlan) => (await readSweep(plan.id))?.cells ?? sweepCells(plan, []);
  return processSingleton(
    "sweep-runner",
    () => new SweepRunner({ open: openRun, read: readRun, stop: stopRun, cells }),
  );
}

/** Starts a sweep, and returns before its first run. @throws LabError `sweep_active`, `unknown_strategy`, `strategy_unavailable` */
export async function startSweep({ strategies, repeats, run }: SweepRequest): Promise<SweepDocument> {
  const plan = { id: newSweepId(), repeats, strategies };
  rejectUnavailable(strategies);
  sweepRunner().start({ plan, request: (strategy) => ({ ...run, strategy, launch: true }) });
  return (await readLiveSweep(plan.id)) ?? emptySweep(plan, Date.now());
}

/** Makes the missing runs of a sweep, with the settings of its first run. @returns null if the sweep has no run */
export async function resumeSweep(id: string): Promise<SweepDocument | null> {
  const known = await readSweep(id);
  const first = known?.cells.find(({ run }) => run !== null)?.run;
  if (known === null || !first) return null;
  const { repeats, strategies } = known;
  rejectUnavailable(strategies);
  const settings = rerunRequest(first);
  const request = (strategy: string) => runRequestSchema.parse({ ...settings, strategy });
  sweepRunner().start({ plan: { id, repeats, strategies }, request });
  return readLiveSweep(id);
}

/** A sweep with the progress of this process, also before its first run; null if there is none. */
export async function readLiveSweep(id: string): Promise<SweepDocument | null> {
  const stored = await readSweep(id);
  const { active } = sweepRunner();
  if (active?.plan.id !== id) return stored;
  const { plan, startedAtEpochMs, remainingMs, problems } = active;
  return { ...(stored ?? emptySweep(plan, startedAtEpochMs)), active: { remainingMs, problems } };
}

function rejectUnavailable(strategies: readonly string[]): void {
  for (const id of strategies) {
    const { available, unavailableReason } = describeStrategy(id);
    if (available) continue;
    const message = `strategies: ${id} is not available. ${unavailableReason}`;
    throw new LabError("strategy_unavailable", message, { field: "strategies" });
  }
}
