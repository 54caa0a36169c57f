import type { Fault } from "./fault";
import { pauseHolder } from "./pause-holder";

export const FAULT_IDS = ["pause-holder"] as const;
export type FaultId = (typeof FAULT_IDS)[number];

/** Every fault of the lab. */
export const faultCatalogue: Readonly<Record<FaultId, Fault>> = {
  "pause-holder": pauseHolder,
};
