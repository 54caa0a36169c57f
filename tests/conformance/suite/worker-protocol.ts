import type { StockOutcome, StockTarget } from "../../../lib/stock/types";
import type { TestSetup } from "./test-setup";

/** Makes the strategy that the orders to come are about. */
export interface OpenOrder {
  readonly kind: "open";
  readonly plug: TestSetup;
}

/** Takes the lock so many times. */
export interface HoldOrder {
  readonly kind: "hold";
  readonly resource: string;
  readonly ttlMs: number;
  readonly waitTimeoutMs: number;
  /** Callers in the process at the same time, and holds by each. */
  readonly callers: number;
  readonly holdsEach: number;
  readonly holdMs: number;
}

/** One purchase for each buyer, all at once. */
export interface BuyOrder {
  readonly kind: "buy";
  readonly target: StockTarget;
  readonly buyerIds: readonly string[];
  readonly holdMs: number;
}

/** Closes all that was opened for the strategy, and says what is left all the same. */
export interface CloseOrder {
  readonly kind: "close";
}

/** Stops listening: a process with nothing left to do ends. */
export interface EndOrder {
  readonly kind: "end";
}

export type WorkerOrder = OpenOrder | HoldOrder | BuyOrder | CloseOrder | EndOrder;

/** What a worker says, as it happens. Times are nanoseconds of the host's monotonic clock, in decimals. */
export type WorkerMessage =
  | { readonly type: "ready" }
  | { readonly type: "opened" }
  | { readonly type: "granted" }
  | { readonly type: "lost" }
  | {
      readonly type: "hold";
      readonly holderId: string;
      readonly fromNs: string;
      readonly toNs: string;
      readonly fencingToken: string | null;
    }
  | { readonly type: "contended" }
  | { readonly type: "bought"; readonly statuses: readonly StockOutcome["status"][] }
  | { readonly type: "closed"; readonly left: readonly string[] }
  | { readonly type: "failed"; readonly message: string }
  | { readonly type: "done" };
