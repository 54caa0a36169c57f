import type { StockRequest } from "./types";

/** What a holder passes right before its write, when nothing is left to check: the lab's faults meet it there. */
export type Failpoint = (holder: Pick<StockRequest, "runId" | "buyerId" | "trace">) => void;

/** Nobody waits for the holder there. */
export const unarmed: Failpoint = () => {};
