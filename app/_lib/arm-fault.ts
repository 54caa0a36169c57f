import type { ArmedFault } from "@/lib/faults/request";
import type { RunDocument } from "@/lib/runs/document";
import { durationText } from "./format";
import { configOfRun, queryOf } from "./run-config";
import type { CatalogueFault } from "./strategy-catalogue";

/** The form that injects a fault into a run in progress. */

/** Texts as entered; empty: the default. */
export interface FaultForm {
  readonly id: string;
  readonly node: string;
  readonly startS: string;
  readonly lengthS: string;
}

/** The faults that apply to a run in progress. Those that need the servers of a topology need a new run. */
export interface OfferedFaults {
  readonly inThisRun: readonly CatalogueFault[];
  readonly inNewRun: readonly CatalogueFault[];
}

export function offeredFaults(strategy: string, catalogue: readonly CatalogueFault[]): OfferedFaults {
  const applicable = catalogue.filter(({ reasonsAgainst }) => reasonsAgainst[strategy] === undefined);
  return {
    inThisRun: applicable.filter(({ topology }) => topology === null),
    inNewRun: applicable.filter(({ topology }) => topology !== null),
  };
}

/** Address of the Lab page with the settings of a run, but with this fault in place of the run's faults. */
export function newRunHref(run: Pick<RunDocument, "strategy" | "target" | "config">, { id }: CatalogueFault): string {
  const faults = [{ id: id as ArmedFault["id"] }];
  return `/?${queryOf({ ...configOfRun(run), faults })}`;
}

/** The request, or what is wrong with the form. */
export function armedFaultOf({ id, node, startS, lengthS }: FaultForm): ArmedFault | { readonly problem: string } {
  const [inMs, durationMs] = [millisOf(startS), millisOf(lengthS)];
  if (inMs === null) return { problem: "Start: a number of seconds, or empty for now." };
  if (durationMs === null) return { problem: "Length: a number of seconds, or empty for the fault's default." };
  return {
    id: id as ArmedFault["id"],
    ...(node === "" ? {} : { node }),
    ...(inMs === undefined ? {} : { inMs }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
}

/** Undefined for an empty text, null for one that is no number of seconds. */
function millisOf(text: string): number | null | undefined {
  if (text.trim() === "") return undefined;
  const seconds = Number(text);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.round(seconds * 1_000) : null;
}

/** "pause-holder starts in 2 s." */
export function armedText({ id, inMs = 0 }: Pick<ArmedFault, "id" | "inMs">): string {
  return inMs === 0 ? `${id} starts now.` : `${id} starts in ${durationText(inMs)}.`;
}
