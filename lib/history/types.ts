/**
 * The history of a run, one JSON object a line (NDJSON). Times are nanoseconds of the host's monotonic clock as
 * decimal strings; a field that does not apply is absent.
 */
export interface HistoryRunLine {
  readonly type: "run";
  readonly runId: string;
  readonly strategy: string;
  readonly resource: string;
  readonly initial: number;
  readonly limitPerBuyer: number | null;
  readonly hosts: number;
  /** False: the resource did not check fencing tokens, so carrying one excuses nothing. Absent: it did. */
  readonly fencing?: boolean;
  /** How long after a fault has healed a waiter may still wait. Absent: `DEFAULT_SERVED_WITHIN_MS`. */
  readonly servedWithinMs?: number;
}

export type OperationOutcome = "sold" | "sold_out" | "contended" | "rejected" | "error" | "unknown";

export interface HistoryOpLine {
  readonly type: "op";
  readonly opId: string;
  readonly node: string;
  readonly host: string;
  readonly buyerId: string;
  readonly quantity: number;
  readonly idempotencyKey?: string;
  readonly invokedNs: string;
  readonly waitNs?: string;
  readonly grantedNs?: string;
  readonly holderId?: string;
  /** The hold lived in the transaction of the write, so that what ended the one undid the other. */
  readonly transactional?: boolean;
  readonly fencingToken?: string;
  readonly readNs?: string;
  readonly readValue?: number;
  readonly writeNs?: string;
  readonly writtenValue?: number;
  readonly writeAccepted?: boolean;
  readonly committedNs?: string;
  readonly releasedNs?: string;
  readonly leaseLostNs?: string;
  readonly answeredNs?: string;
  /** Time spent waiting for pooled connections, in whole microseconds; absent also where nobody measured it. */
  readonly poolWaitUs?: number;
  /** How much of it fell into the wait for the turn, into the hold, into the write. */
  readonly waitPoolUs?: number;
  readonly holdPoolUs?: number;
  readonly commitPoolUs?: number;
  readonly outcome: OperationOutcome;
  readonly orderId?: string;
}

export interface HistoryFaultLine {
  readonly type: "fault";
  readonly faultId: string;
  readonly fromNs: string;
  readonly toNs: string;
  readonly proof: string;
}

export interface HistoryOrder {
  readonly orderId: string;
  readonly opId: string;
  readonly buyerId: string;
  readonly quantity: number;
}

export interface HistoryEndLine {
  readonly type: "end";
  readonly final: number;
  /** What a strategy that counts outside of the database had left there; null or absent: nothing, or it does not. */
  readonly counter?: number | null;
  /** In the order in which the database took them in. */
  readonly orders: readonly HistoryOrder[];
  readonly dropped: number;
}

export type HistoryLine = HistoryRunLine | HistoryOpLine | HistoryFaultLine | HistoryEndLine;
