import type { RunDocument } from "../../lib/runs/document";
import { executeRun, explainFailure } from "./execute";
import { describeLab, type LabAddress } from "./lab-client";
import type { SaleFlags } from "./options";
import type { ProgressOutput } from "./progress";

/** Repeats of several strategies, interleaved (A B C A B C), so that a machine that slows down slows all alike. */

export interface SweepRun {
  readonly strategy: string;
  readonly repeat: number;
  /** Null when the run could not be made; then `problem` says why. */
  readonly document: RunDocument | null;
  readonly problem: string | null;
  /** From asking for the run to its final document. */
  readonly elapsedMs: number;
}

export interface SweepPlan {
  readonly strategies: readonly string[];
  readonly repeats: number;
  readonly flags: SaleFlags;
}

export interface SweepSelection {
  readonly strategies: readonly string[];
  /** Left out of `all`, each with its reason. */
  readonly unavailable: readonly { readonly id: string; readonly reason: string }[];
}

/** No sweep is longer than this many runs. */
export const MAX_RUNS = 500;

/**
 * What `--strategies` means in this lab. Of `all` the unavailable are left out and named.
 * @throws Error for a strategy that was named and is not available
 */
export async function selectStrategies(lab: LabAddress, wanted: "all" | readonly string[]): Promise<SweepSelection> {
  const { strategies } = await describeLab(lab);
  const absent = strategies.filter((strategy) => !strategy.available);
  const unavailable = absent.map(({ id, unavailableReason }) => ({ id, reason: unavailableReason ?? "not available" }));
  if (wanted === "all") {
    return { strategies: strategies.filter(({ available }) => available).map(({ id }) => id), unavailable };
  }
  const missing = unavailable.filter(({ id }) => wanted.includes(id));
  if (missing.length > 0) throw new Error(missing.map(({ id, reason }) => `${id}: ${reason}`).join("\n"));
  return { strategies: wanted, unavailable: [] };
}

/** In the order in which they run. */
export function interleave(strategies: readonly string[], repeats: number): { strategy: string; repeat: number }[] {
  return Array.from({ length: repeats }, (_, index) =>
    strategies.map((strategy) => ({ strategy, repeat: index + 1 })),
  ).flat();
}

/** Makes all runs, one after the other; one that fails is noted and the rest go on. */
export async function sweep(lab: LabAddress, plan: SweepPlan, out: ProgressOutput): Promise<SweepRun[]> {
  const runs: SweepRun[] = [];
  const order = interleave(plan.strategies, plan.repeats);
  for (const [index, { strategy, repeat }] of order.entries()) {
    const label = `${index + 1}/${order.length} ${strategy}`;
    const startedAtMs = performance.now();
    try {
      const document = await executeRun(lab, { flags: plan.flags, strategy, label }, out);
      runs.push({ strategy, repeat, document, problem: null, elapsedMs: performance.now() - startedAtMs });
    } catch (error) {
      const problem = explainFailure(error);
      out.write(`${label}: ${problem}\n`);
      runs.push({ strategy, repeat, document: null, problem, elapsedMs: performance.now() - startedAtMs });
    }
  }
  return runs;
}

/** True when the run was made, came to its end, and concluded what the catalogue expects. */
export function isAsExpected({ document }: Pick<SweepRun, "document">): boolean {
  return document !== null && document.status === "finished" && document.verdict === document.expected;
}
