import type { StrategyTraits } from "../locks/types";

/** The hot row of a sale. */
export interface StockTarget {
  readonly kind: "product" | "coupon";
  /** Primary key of the row. */
  readonly id: number;
}

/** The lock name of a target, for example `product:42`. */
export function resourceOf(target: StockTarget): string {
  return `${target.kind}:${target.id}`;
}

/**
 * Record of one operation, filled in by the strategy. Times are nanoseconds of the host's monotonic clock. The recorder turns it
 * into a line of the history (docs/history-format.md). A step that does not happen leaves its field absent.
 */
export interface OperationTrace {
  readonly opId: string;
  invokedNs: bigint;
  waitNs?: bigint;
  grantedNs?: bigint;
  /** The lock is held by the transaction of the write, so losing the lock rolls back the write. */
  transactional?: true;
  holderId?: string;
  fencingToken?: bigint;
  readNs?: bigint;
  readValue?: number;
  writeNs?: bigint;
  writtenValue?: number;
  writeAccepted?: boolean;
  committedNs?: bigint;
  releasedNs?: bigint;
  leaseLostNs?: bigint;
  /** When the lease ends unless it is renewed, as known immediately before the write. */
  leaseUntilNs?: bigint;
  answeredNs?: bigint;
  /** Total time spent waiting for pooled connections. */
  poolWaitNs?: bigint;
  /** The part of `poolWaitNs` before the grant, during the hold, and before the write. */
  waitPoolNs?: bigint;
  holdPoolNs?: bigint;
  commitPoolNs?: bigint;
  /** Attempts to get the lock, or to execute the conditional write. */
  attempts?: number;
}

/** The common part of all operations that change a hot row. */
export interface StockOperation {
  readonly target: StockTarget;
  readonly ttlMs: number;
  readonly waitTimeoutMs: number;
  /** False: PostgreSQL does not check the fencing token. Absent: it does, if the lock has one. */
  readonly fencing?: boolean;
  readonly signal?: AbortSignal;
  readonly trace: OperationTrace;
}

export interface StockRequest extends StockOperation {
  readonly quantity: number;
  readonly buyerId: string;
  /** The run that this purchase belongs to; null outside runs. */
  readonly runId: string | null;
  /** Duration of the business logic inside the critical section. */
  readonly holdMs: number;
  /** Units that one buyer may have of the product; absent: unlimited. A coupon is always limited to one. */
  readonly limitPerBuyer?: number | undefined;
  /** Further terms of the order; absent: an order without a payment deadline. */
  readonly order?: OrderTerms | undefined;
}

export type OrderTerms =
  | {
      readonly kind: "shop";
      /** Unique per buyer and product. */
      readonly idempotencyKey: string | null;
      /** Null: the order does not expire. */
      readonly paymentWindowMs: number | null;
      /** Each purchase token admits one order. */
      readonly purchaseTokenId: string | null;
    }
  /** Takes the units of an existing pending order and marks it as paid. */
  | { readonly kind: "pending"; readonly orderId: string };

/** A constraint of PostgreSQL rejected the order. Nothing was written. */
export type RowRejection = {
  readonly status: "already_claimed" | "limit_reached" | "token_used" | "repeated_key";
};

export type StockOutcome =
  | { readonly status: "sold"; readonly orderId: string }
  | { readonly status: "sold_out" }
  | RowRejection
  | { readonly status: "contended"; readonly waitedMs: number; readonly attempts: number };

/** An order whose units have left the stock. */
export interface HeldOrder {
  readonly orderId: string;
  readonly buyerId: string;
  readonly quantity: number;
}

/** Ends pending orders of one product and returns their units. Orders that are paid or already ended do not change. */
export interface GiveBackRequest extends StockOperation {
  readonly orders: readonly HeldOrder[];
  readonly as: "cancelled" | "expired";
  readonly reason: string | null;
  /** Ends only orders with a payment deadline up to this time; null ends all. */
  readonly dueBefore: Date | null;
}

export type GiveBackOutcome =
  /** The orders that this call ended. Their units are back in the stock. */
  | { readonly status: "released"; readonly orders: readonly HeldOrder[] }
  | Extract<StockOutcome, { readonly status: "contended" }>;

/** A way to take units off a hot row: a lock around a read-modify-write, or one atomic operation. */
export interface StockStrategy extends AsyncDisposable {
  readonly id: string;
  readonly traits: StrategyTraits;
  /**
   * Takes `quantity` units for the buyer and writes the order.
   * @throws {LockError} when a server fails or the outcome is unknown
   */
  reduceStock(request: StockRequest): Promise<StockOutcome>;
  /**
   * Ends pending orders and returns their units. Uses the same lock or condition as the sales, because the absolute write of a lock
   * holder would undo a concurrent increment. Orders and stock change in one statement, so each unit comes back once.
   * @throws {LockError} when a server fails or the outcome is unknown
   */
  giveBack(request: GiveBackRequest): Promise<GiveBackOutcome>;
  /**
   * Moves the stock of a target to where the strategy keeps it. Only strategies that do not sell from the target's row have it.
   * Called once for all nodes before a run opens. Outside runs, a purchase initializes a missing counter.
   */
  prepare?(target: StockTarget, stock: number): Promise<void>;
  /**
   * Undoes `prepare` after a run: a later purchase outside runs counts from the row, not from what the run left. Units whose orders
   * may still follow stay in the journal.
   */
  handBack?(target: StockTarget): Promise<void>;
  /** Compares an external counter with the row. Only strategies with an external counter have it. */
  drift?(target: StockTarget): Promise<StockDrift>;
  /** Lists the targets that have a counter or a journal, if the server can list keys. */
  countedTargets?(): Promise<readonly StockTarget[]>;
  /** Repairs counter and journal after crashes and lost replies. Safe at any time and on several nodes at once. */
  reconcile?(target: StockTarget, options?: ReconcileOptions): Promise<Reconciliation>;
}

/** A counter outside PostgreSQL and its row. All fields are in units. */
export interface StockDrift {
  /** Null when the counter does not exist. */
  readonly counter: number | null;
  readonly stock: number;
  /** Units in the journal: taken from the counter, with an order that is in progress or was lost. */
  readonly pending: number;
  /** counter - stock. Negative: units that cannot be bought. Positive: units that the row does not have. */
  readonly drift: number;
}

export interface ReconcileOptions {
  /** Younger entries are left alone, because their orders may be in progress. 0 when no purchase is running. */
  readonly olderThanMs?: number;
  /** True for operations that cannot continue, for example because their process has ended: their entries are settled at any age. */
  readonly isDead?: (opId: string) => boolean;
  /** True: changes the counter only by the units of journal entries, so that a drift with another cause can still be seen. */
  readonly journalOnly?: boolean;
}

/** Result of a reconciliation, in units. */
export interface Reconciliation {
  /** Their orders exist. */
  readonly kept: number;
  /** Without an order; they are on sale again. */
  readonly givenBack: number;
  /** Their entries are too young to settle. */
  readonly pending: number;
  /** Change of the counter to match the row, in addition to `givenBack`. */
  readonly corrected: number;
}
