import type { StockOutcome, StockTarget } from "../../../lib/stock/types";
import type { TestSetup } from "./test-setup";

/** Opens the strategy that the next commands use. */
export interface OpenCommand {
  readonly kind: "open";
  readonly setup: TestSetup;
}

/** Acquires the lock repeatedly. */
export interface HoldCommand {
  readonly kind: "hold";
  readonly resource: string;
  readonly ttlMs: number;
  readonly waitTimeoutMs: number;
  /** Concurrent callers in the process, and holds per caller. */
  readonly callers: number;
  readonly holdsEach: number;
  readonly holdMs: number;
}

/** One concurrent purchase per buyer. */
export interface BuyCommand {
  readonly kind: "buy";
  readonly target: StockTarget;
  readonly buyerIds: readonly string[];
  readonly holdMs: number;
}

/** Disposes the strategy and returns the resources that are left. */
export interface CloseCommand {
  readonly kind: "close";
}

/** Stops listening, so that the idle process exits. */
export interface EndCommand {
  readonly kind: "end";
}

export type WorkerCommand = OpenCommand | HoldCommand | BuyCommand | CloseCommand | EndCommand;

/** What a worker reports. Times are nanoseconds of the host's monotonic clock as decimal strings. */
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
