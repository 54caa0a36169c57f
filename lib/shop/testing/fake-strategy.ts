import type { StrategyTraits } from "../../locks/types";
import { StoreNode } from "../../node/store-node";
import { sqlGuardedTraits } from "../../stock/sql-guarded";
import type { GiveBackOutcome, GiveBackRequest, StockOutcome, StockRequest, StockStrategy } from "../../stock/types";

/** Answers purchases and give-backs with what a test sets, and records the requests. */
export class FakeStrategy implements StockStrategy {
  readonly id: string = "fake";
  readonly traits: StrategyTraits = sqlGuardedTraits;
  readonly purchases: StockRequest[] = [];
  readonly giveBacks: GiveBackRequest[] = [];
  purchaseOutcome: StockOutcome | Error = { status: "sold", orderId: "7" };
  giveBackOutcome: GiveBackOutcome | Error | ((request: GiveBackRequest) => GiveBackOutcome | Error) | null = null;

  async reduceStock(request: StockRequest): Promise<StockOutcome> {
    this.purchases.push(request);
    if (this.purchaseOutcome instanceof Error) throw this.purchaseOutcome;
    return this.purchaseOutcome;
  }

  async giveBack(request: GiveBackRequest): Promise<GiveBackOutcome> {
    this.giveBacks.push(request);
    const scripted = this.giveBackOutcome;
    const outcome = typeof scripted === "function" ? scripted(request) : scripted;
    if (outcome instanceof Error) throw outcome;
    return outcome ?? { status: "released", orders: request.orders };
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** A store node whose strategies are all `strategy`. */
export function makeNode(strategy: StockStrategy): StoreNode {
  return new StoreNode({
    name: "node-1",
    activeStrategy: "fake",
    createStrategy: () => strategy,
    defaults: { holdMs: 1, ttlMs: 2_000, waitTimeoutMs: 300 },
  });
}

export const RUN_SETTINGS = { strategy: "fake", holdMs: 5, ttlMs: 6_000, waitTimeoutMs: 700 } as const;
