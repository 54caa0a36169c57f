import type { StockRequest } from "./types";

/** Called right before the write of a lock holder, after its last check. Faults pause the holder here. */
export type Failpoint = (holder: Pick<StockRequest, "runId" | "buyerId" | "trace">) => void;

/** Called in the work of a lock holder. Faults delay the holder here. @returns null if none does */
export type DelayPoint = (holder: Parameters<Failpoint>[0]) => Promise<void> | null;

/** No fault delays the holder. */
export const undelayed: DelayPoint = () => null;

/** No fault waits for the holder. */
export const unarmed: Failpoint = () => {};
