/**
 * The history of a run, one JSON object per line (NDJSON). Times are nanoseconds of the host's monotonic clock as
 * decimal strings. A field that does not apply is absent. docs/history-format.md explains the fields.
 */
export interface HistoryRunLine {
  readonly type: "run";
  readonly runId: string;
  readonly strategy: string;
  readonly resource: string;
  readonly initial: number;
  readonly limitPerBuyer: number | null;
  readonly hosts: number;
  /** False if the resource did not check fencing tokens: a token then does not excuse an overlap. Absent means true. */
  readonly fencing?: boolean;
  /** The longest allowed wait after a fault heals. Absent: `DEFAULT_SERVED_WITHIN_MS`. */
  readonly servedWithinMs?: number;
}

export type OperationOutcome = "sold" | "sold_out" | "contended" | "rejected" | "error" | "unknown";

export interface HistoryOpLine {
  readonly type: "op";
  /** The number of fields of this line, with `type` and this one. Absent: not known, and a missing field is not noticed. */
  readonly fields?: number;
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
  /** The transaction of the write held the lock, so its end released the lock and, on failure, undid the write. */
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
  /** When the lease ends unless it is renewed, as the holder knew at its write. */
  readonly leaseUntilNs?: string;
  readonly answeredNs?: string;
  /** Time spent waiting for pooled connections, in whole microseconds. Absent if zero or not measured. */
  readonly poolWaitUs?: number;
  /** The parts of it within the wait for the lock, the hold and the write. */
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
  /** The store node whose process the fault stopped. */
  readonly stoppedNode?: string;
  /** The store node whose process the fault killed. */
  readonly killedNode?: string;
  /** The fault promoted a replica of the database. Orders that the replica did not have are gone. */
  readonly promotedReplica?: true;
  /** The store node on which the fault delayed the work of one holder. */
  readonly slowedNode?: string;
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
  /**
   * The remaining units on the counter of a strategy that counts outside PostgreSQL; null if the counter is gone, absent
   * if the strategy has none.
   */
  readonly counter?: number | null;
  /** In the order in which the database inserted them. */
  readonly orders: readonly HistoryOrder[];
  readonly dropped: number;
  /** How many op lines the file must have. Absent: not known. */
  readonly operations?: number;
}

export type HistoryLine = HistoryRunLine | HistoryOpLine | HistoryFaultLine | HistoryEndLine;
