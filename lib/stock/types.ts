import type { StrategyTraits } from "../locks/types";

/** A hot row: what a sale is about. */
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
 * Where a strategy writes down what it does, as it does it; times are nanoseconds of the host's monotonic clock.
 * The recorder turns it into a history line (docs/history-format.md); fields that never happen stay absent.
 */
export interface OperationTrace {
  readonly opId: string;
  invokedNs: bigint;
  waitNs?: bigint;
  grantedNs?: bigint;
  /** The hold lives in the transaction of the write: what ends the one undoes the other. */
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
  answeredNs?: bigint;
  /** Total time spent waiting for pooled connections. */
  poolWaitNs?: bigint;
  /** How much of it fell into the wait for the turn, into the hold, into the write. */
  waitPoolNs?: bigint;
  holdPoolNs?: bigint;
  commitPoolNs?: bigint;
  /** Attempts at the lock or at the conditional write. */
  attempts?: number;
}

/** How anything that changes a hot row waits, holds, and writes down what it does. */
export interface StockOperation {
  readonly target: StockTarget;
  readonly ttlMs: number;
  readonly waitTimeoutMs: number;
  /** False: the fencing token of a lock that has one is not checked; absent: checked. */
  readonly fencing?: boolean;
  readonly signal?: AbortSignal;
  readonly trace: OperationTrace;
}

export interface StockRequest extends StockOperation {
  readonly quantity: number;
  readonly buyerId: string;
  /** The run this purchase counts for; null outside of runs. */
  readonly runId: string | null;
  /** Business logic inside the critical section. */
  readonly holdMs: number;
  /** Units one buyer may have of the target; absent: as many as there are. Coupons are one each whatever this says. */
  readonly limitPerBuyer?: number | undefined;
  /** What the purchase writes beside taking the units; absent: an order that waits for its payment for ever. */
  readonly order?: OrderTerms | undefined;
}

export type OrderTerms =
  | {
      readonly kind: "shop";
      /** No buyer has two orders of one product with the same key. */
      readonly idempotencyKey: string | null;
      /** Null: the order does not expire. */
      readonly paymentWindowMs: number | null;
      /** No two orders refer to the same one. */
      readonly purchaseTokenId: string | null;
    }
  /** An order that is there, took no units yet, and is paid by this. */
  | { readonly kind: "pending"; readonly orderId: string };

/** What the order's row itself refused, whatever lock there was: nothing was written. */
export type RowRejection = {
  readonly status: "already_claimed" | "limit_reached" | "token_used" | "repeated_key";
};

export type StockOutcome =
  | { readonly status: "sold"; readonly orderId: string }
  | { readonly status: "sold_out" }
  | RowRejection
  | { readonly status: "contended"; readonly waitedMs: number; readonly attempts: number };

/** An order whose units are off the stock. */
export interface HeldOrder {
  readonly orderId: string;
  readonly buyerId: string;
  readonly quantity: number;
}

/** Ends pending orders of one product and returns their units. Orders that have ended or are paid stay as they are. */
export interface GiveBackRequest extends StockOperation {
  readonly orders: readonly HeldOrder[];
  readonly as: "cancelled" | "expired";
  readonly reason: string | null;
  /** Only those whose deadline was before it; null: whatever their deadline. */
  readonly dueBefore: Date | null;
}

export type GiveBackOutcome =
  /** Those that were ended by this call; their units are back. */
  | { readonly status: "released"; readonly orders: readonly HeldOrder[] }
  | Extract<StockOutcome, { readonly status: "contended" }>;

/** A way of taking units off a hot row: a lock round a read-modify-write, or one atomic operation. */
export interface StockStrategy extends AsyncDisposable {
  readonly id: string;
  readonly traits: StrategyTraits;
  /**
   * Takes `quantity` units for the buyer and writes the order.
   * @throws {LockError} when a server is lost or the outcome is not known
   */
  reduceStock(request: StockRequest): Promise<StockOutcome>;
  /**
   * Returns the units of pending orders, under the same guard as the sales: an absolute write of a lock's holder would
   * undo an increment made beside it. Orders and stock change in one statement, so each unit comes back once.
   * @throws {LockError} when a server is lost or the outcome is not known
   */
  giveBack(request: GiveBackRequest): Promise<GiveBackOutcome>;
  /**
   * Puts a target's stock where the strategy keeps it, for those that do not sell from the target's own row. Called once
   * for all nodes, before a run opens; purchases outside of runs find the stock by themselves.
   */
  prepare?(target: StockTarget, stock: number): Promise<void>;
  /** What the strategy counts elsewhere, beside the row, for those that do. */
  drift?(target: StockTarget): Promise<StockDrift>;
  /** Targets that have a journal there, where the server can list them. */
  journalledTargets?(): Promise<readonly StockTarget[]>;
  /** Brings the two together again after crashes and lost replies. Safe at any time, on several nodes at once. */
  reconcile?(target: StockTarget, options?: ReconcileOptions): Promise<Reconciliation>;
}

/** A count that is kept outside of PostgreSQL, and the row it stands for. Units throughout. */
export interface StockDrift {
  /** Null: nothing is counted there yet. */
  readonly counter: number | null;
  readonly stock: number;
  /** TakeResult from the counter for orders that are on their way, or were lost on it. */
  readonly pending: number;
  /** counter - stock. Below zero: units that nobody can buy. Above: units promised that the row does not have. */
  readonly drift: number;
}

export interface ReconcileOptions {
  /** Leaves younger entries alone: their orders may be on their way. 0 where nobody is buying. */
  readonly olderThanMs?: number;
  /** Operations whose process is known to have ended: they are settled whatever their age. */
  readonly isDead?: (opId: string) => boolean;
}

/** Units that were settled, by what was found. */
export interface Reconciliation {
  /** Their orders were there. */
  readonly kept: number;
  /** There was no order; they are on sale again. */
  readonly givenBack: number;
  /** Too young to judge. */
  readonly pending: number;
  /** By how much the counter was moved to agree with the row, besides. */
  readonly corrected: number;
}
