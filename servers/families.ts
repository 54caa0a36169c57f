import type { StrategyFamily } from "../lib/locks/types";
import { serverKinds } from "./all-servers";

export interface FamilyDescription {
  readonly id: StrategyFamily;
  readonly label: string;
}

/** Strategy families in the order of every list: without a lock server first, then by server kind. */
export const strategyFamilies: readonly FamilyDescription[] = [
  { id: "baseline", label: "No shared lock" },
  { id: "sql", label: "SQL" },
  ...serverKinds.flatMap(({ id, familyLabel }) => (familyLabel === undefined ? [] : [{ id, label: familyLabel }])),
];

/** @throws Error for an unknown family */
export function familyLabel(id: StrategyFamily): string {
  const family = strategyFamilies.find((candidate) => candidate.id === id);
  if (family) return family.label;
  throw new Error(`"${id}" is no strategy family; valid ids: ${strategyFamilies.map((known) => known.id).join(", ")}`);
}
