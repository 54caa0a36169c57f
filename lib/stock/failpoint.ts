import type { StockRequest } from "./types";

/** Called right before the write of a lock holder, after its last check. Faults pause the holder here. */
export type Failpoint = (holder: Pick<StockRequest, "runId" | "buyerId" | "trace">) => void;

/** No fault waits for the holder. */
export const unarmed: Failpoint = () => {};
