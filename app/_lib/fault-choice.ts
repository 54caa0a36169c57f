import { readFault, writeFault } from "@/lib/faults/notation";
import type { FaultRequest } from "@/lib/faults/request";
import type { SaleConfig } from "./run-config";
import type { CatalogueFault } from "./strategy-catalogue";

/** What the Lab page offers to do to a sale. */

export const NO_FAULT = "none";

export interface FaultOption {
  /** In one word, as an address has it. */
  readonly value: string;
  readonly label: string;
}

type Chosen = Pick<SaleConfig, "strategy" | "faults">;

export function faultValue(faults: readonly FaultRequest[]): string {
  return faults.map(writeFault).join(",") || NO_FAULT;
}

export function faultsOfValue(value: string): FaultRequest[] {
  return value.split(",").flatMap((text) => readFault(text) ?? []);
}

/** None, those that can be done to the strategy, and what is chosen, if a run or an address came with something else. */
export function faultOptions({ strategy, faults }: Chosen, catalogue: readonly CatalogueFault[]): FaultOption[] {
  const applicable = catalogue.filter(({ reasonsAgainst }) => reasonsAgainst[strategy] === undefined);
  const values = [NO_FAULT, ...applicable.map(({ id }) => id)];
  const chosen = faultValue(faults);
  return [...values, ...(values.includes(chosen) ? [] : [chosen])].map((value) => ({ value, label: value }));
}

/** What will be done, a sentence each. */
export function faultDescription({ faults }: Chosen, catalogue: readonly CatalogueFault[]): string | null {
  const ids = new Set<string>(faults.map(({ id }) => id));
  const sentences = catalogue.filter(({ id }) => ids.has(id)).map(({ does }) => does);
  return sentences.join(" ") || null;
}

/** Why what is chosen cannot be done to the strategy, to stand beside the choice; null when it can. */
export function faultProblem({ strategy, faults }: Chosen, catalogue: readonly CatalogueFault[]): string | null {
  for (const { id } of faults) {
    const reason = catalogue.find((fault) => fault.id === id)?.reasonsAgainst[strategy];
    if (reason !== undefined) return `not for ${strategy}: ${reason}`;
  }
  return null;
}
