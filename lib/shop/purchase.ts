import type { OperationOutcome } from "../history/types";
import { isLockError } from "../locks/errors";
import type { OperationFacts } from "../node/recorder";
import type { PurchasePlan, StoreNode } from "../node/store-node";
import { nowNs } from "../services/monotonic";
import type { OperationTrace, OrderTerms, StockOutcome, StockTarget } from "../stock/types";
import { rejectWhileHeld } from "./run-holding-target";
import { ShopError } from "./shop-error";

export interface PurchaseInput {
  readonly target: StockTarget;
  readonly buyerId: string;
  readonly quantity: number;
  /** What the purchase writes besides taking the units. Default: an order without a payment deadline. */
  readonly order?: OrderTerms | undefined;
  readonly limitPerBuyer?: number | undefined;
  /** Recorded in the run's history, so that checkers recognize repeated requests. */
  readonly idempotencyKey?: string | undefined;
}

export interface PurchaseResult {
  readonly outcome: StockOutcome;
  readonly strategyId: string;
  readonly runId: string | null;
}

/** A failed purchase, with the strategy that served it. */
export class PurchaseFailure extends Error {
  override readonly name = "PurchaseFailure";
  constructor(
    readonly strategyId: string,
    override readonly cause: unknown,
  ) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/**
 * Makes one purchase: reduces the stock with the plan's strategy, then records the outcome.
 * @throws {ShopError} `contended` while a run's stock is prepared or counted, or if a run of the target started or ended after the
 *   plan was made
 * @throws {PurchaseFailure} if a server is unavailable or the outcome is unknown; its cause is the LockError
 */
export async function purchase(node: StoreNode, plan: PurchasePlan, input: PurchaseInput): Promise<PurchaseResult> {
  if (plan.run === null) await rejectWhileHeld(node, input.target);
  if (!node.isCurrent(plan)) throw planOutdated(plan);
  if (plan.run !== null) return takeUnits(node, plan, input);
  node.enterShopWork(plan);
  try {
    return await takeUnits(node, plan, input);
  } finally {
    node.leaveShopWork(plan);
  }
}

async function takeUnits(node: StoreNode, plan: PurchasePlan, input: PurchaseInput): Promise<PurchaseResult> {
  const { buyerId, quantity, idempotencyKey } = input;
  const trace = node.newTrace();
  plan.meter.begin(trace, input);
  try {
    const outcome = await plan.strategy.reduceStock({
      ...input,
      runId: plan.run?.assignment.runId ?? null,
      holdMs: plan.holdMs,
      ttlMs: plan.ttlMs,
      waitTimeoutMs: plan.waitTimeoutMs,
      fencing: plan.fencing,
      trace,
    });
    const orderId = outcome.status === "sold" ? outcome.orderId : undefined;
    finish(plan, trace, { buyerId, quantity, idempotencyKey, outcome: recordedOutcome(outcome), orderId });
    return { outcome, strategyId: plan.strategy.id, runId: plan.run?.assignment.runId ?? null };
  } catch (error) {
    const outcome = isLockError(error) && !error.isDefinite ? "unknown" : "error";
    finish(plan, trace, { buyerId, quantity, idempotencyKey, outcome });
    throw new PurchaseFailure(plan.strategy.id, error);
  }
}

/** A purchase under an outdated plan would take units from a run, or join a run that is already drained. */
function planOutdated({ resource }: PurchasePlan): ShopError {
  return new ShopError({
    code: "contended",
    message: `A run of ${resource} started or ended while this request waited, or this node has just started. No stock was reserved; retry.`,
    retryAfterSeconds: 1,
  });
}

function finish(plan: PurchasePlan, trace: OperationTrace, facts: OperationFacts): void {
  trace.answeredNs = nowNs();
  plan.meter.end(plan.strategy.id, trace, facts.outcome);
  plan.run?.recorder.record(trace, facts);
}

function recordedOutcome(outcome: StockOutcome): OperationOutcome {
  switch (outcome.status) {
    case "already_claimed":
    case "limit_reached":
    case "token_used":
    case "repeated_key":
      return "rejected";
    default:
      return outcome.status;
  }
}
