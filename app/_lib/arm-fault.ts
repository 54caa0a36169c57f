import type { ArmedFault } from "@/lib/faults/request";
import type { RunDocument } from "@/lib/runs/document";
import { durationText } from "./format";
import type { CatalogueFault } from "./strategy-catalogue";

/** The form that injects a fault into a run in progress. */

/** Texts as entered; empty: the default. */
export interface FaultForm {
  readonly id: string;
  readonly node: string;
  readonly startS: string;
  readonly lengthS: string;
}

/** The faults that a run in progress can have. A run that has one fault of the network has the proxies for all of them. */
export function armableFaults(
  { strategy, config }: Pick<RunDocument, "strategy" | "config">,
  catalogue: readonly CatalogueFault[],
): CatalogueFault[] {
  const needsProxies = new Set(catalogue.filter((fault) => fault.needsProxies).map(({ id }) => id));
  const hasProxies = config.faults?.some(({ id }) => needsProxies.has(id)) ?? false;
  return catalogue.filter((fault) => {
    return fault.reasonsAgainst[strategy] === undefined && (hasProxies || !fault.needsProxies);
  });
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
