import { formatFault, parseFault } from "@/lib/faults/fault-text";
import type { FaultRequest } from "@/lib/faults/request";
import type { SaleConfig } from "./run-config";
import type { CatalogueFault } from "./strategy-catalogue";

/** The fault setting of the Lab page. */

export const NO_FAULT = "none";

export interface FaultOption {
  /** As written in the URL, for example `pause-holder@500+2500`. */
  readonly value: string;
  readonly label: string;
}

type Chosen = Pick<SaleConfig, "strategy" | "faults">;

export function faultValue(faults: readonly FaultRequest[]): string {
  return faults.map(formatFault).join(",") || NO_FAULT;
}

export function faultsOfValue(value: string): FaultRequest[] {
  return value.split(",").flatMap((text) => parseFault(text) ?? []);
}

/** "none", the faults applicable to the strategy, and the chosen value if a URL or an earlier run set another one. */
export function faultOptions({ strategy, faults }: Chosen, catalogue: readonly CatalogueFault[]): FaultOption[] {
  const applicable = catalogue.filter(({ reasonsAgainst }) => reasonsAgainst[strategy] === undefined);
  const values = [NO_FAULT, ...applicable.map(({ id }) => id)];
  const chosen = faultValue(faults);
  return [...values, ...(values.includes(chosen) ? [] : [chosen])].map((value) => ({ value, label: value }));
}

/** What the chosen faults do, one sentence each. */
export function faultDescription({ faults }: Chosen, catalogue: readonly CatalogueFault[]): string | null {
  const ids = new Set<string>(faults.map(({ id }) => id));
  const sentences = catalogue.filter(({ id }) => ids.has(id)).map(({ does }) => does);
  return sentences.join(" ") || null;
}

/** Why the chosen fault is not applicable to the strategy; null when it is. */
export function faultProblem({ strategy, faults }: Chosen, catalogue: readonly CatalogueFault[]): string | null {
  for (const { id } of faults) {
    const reason = catalogue.find((fault) => fault.id === id)?.reasonsAgainst[strategy];
    if (reason !== undefined) return `not applicable to ${strategy}: ${reason}`;
  }
  return null;
}
