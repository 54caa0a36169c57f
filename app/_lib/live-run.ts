import type { LiveFault, RunSample, RunStage } from "@/lib/runs/run-sample";
import { durationText } from "./format";

/** What a run does between its opening and its verdict, in words. */

/** `opening`: the lab prepares nodes and stock. `generator` and `doors`: see `RunStage`. */
export type PreparationStage = "opening" | Extract<RunStage, "generator" | "doors">;

export interface PreparationStep {
  readonly label: string;
  readonly state: "done" | "current" | "next";
}

const ORDER: readonly PreparationStage[] = ["opening", "generator", "doors"];

function labelOf(stage: PreparationStage, generator: string): string {
  const labels: Record<PreparationStage, string> = {
    opening: "prepare nodes and stock",
    generator: `start ${generator}`,
    doors: "wait for the first buyer",
  };
  return labels[stage];
}

/** The steps until the first purchase. @param generator the name of the load generator */
export function preparationSteps(current: PreparationStage, generator: string): PreparationStep[] {
  const at = ORDER.indexOf(current);
  return ORDER.map((stage, index) => ({
    label: labelOf(stage, generator),
    state: index < at ? "done" : index === at ? "current" : "next",
  }));
}

/** "k6", "built-in generator", "external generator". */
export function generatorName(engine: string): string {
  return engine === "k6" ? engine : `${engine === "builtin" ? "built-in" : engine} generator`;
}

export function isPreparing(stage: RunStage | undefined): stage is "generator" | "doors" {
  return stage === "generator" || stage === "doors";
}

/** The faults of the newest sample, with the time since they were first seen. */
export function faultTexts(samples: readonly RunSample[]): string[] {
  const last = samples.at(-1);
  return (last?.faults ?? []).map((fault) => {
    const { id, node, isActive } = fault;
    if (!isActive) return node === null ? `${id} waits for its moment` : `${id} waits for a lock holder on ${node}`;
    const since = samples.find(({ faults = [] }) => faults.some((one) => isSame(one, fault)));
    const length = durationText((last?.atMs ?? 0) - (since?.atMs ?? 0));
    return node === null ? `${id} for ${length}` : `${id}: ${node} has not answered for ${length}`;
  });
}

function isSame(one: LiveFault, other: LiveFault): boolean {
  return one.id === other.id && one.node === other.node && one.isActive === other.isActive;
}
