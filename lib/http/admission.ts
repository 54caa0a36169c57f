import { timingSafeEqual } from "node:crypto";
import type { PurchasePlan } from "../node/store-node";
import { env } from "../services/current-env";
import { gauge, metrics } from "../services/metrics";
import { processSingleton } from "../services/singleton";
import { BuyerLimits } from "./buyer-limits";
import { HttpError } from "./errors";

/**
 * Admits purchases ahead of the locks: at most so many per second and buyer, and at most so many in flight per resource, so
 * that a node's queue of waiters has a bound.
 */

export interface Applicant {
  readonly buyerId: string;
  /** Value of `x-run-key`, or null. */
  readonly runKey: string | null;
}

interface Admission {
  readonly limits: BuyerLimits | null;
  /** Purchases in flight by resource. A resource without any has no entry. */
  readonly inFlight: Map<string, number>;
}

/**
 * Every purchase that enters must leave.
 * @throws HttpError `rate_limited`, `overloaded`; the purchase has then not entered
 */
export function enterPurchase(plan: PurchasePlan, { buyerId, runKey }: Applicant): void {
  const { limits, inFlight } = admission();
  if (limits && !isLoadOfRun(plan, runKey))
    limitRate(limits, { bucket: buyerId, field: "userId", what: "purchases of one buyer" });
  const count = inFlight.get(plan.resource) ?? 0;
  if (count >= env().MAX_PURCHASES_PER_RESOURCE) throw overloaded(plan.resource);
  inFlight.set(plan.resource, count + 1);
}

export function leavePurchase({ resource }: PurchasePlan): void {
  const { inFlight } = admission();
  const left = (inFlight.get(resource) ?? 1) - 1;
  if (left > 0) inFlight.set(resource, left);
  else inFlight.delete(resource);
}

/**
 * Limits payments and cancellations at the same rate as purchases, also those of a run's buyers: a payment may take stock.
 * @throws HttpError `rate_limited`
 */
export function limitOrderActions(buyerId: string): void {
  const { limits } = admission();
  const what = "payments and cancellations of one buyer";
  if (limits) limitRate(limits, { bucket: `orders of ${buyerId}`, field: "cookie", what });
}

export function purchasesInFlight(): number {
  let sum = 0;
  for (const count of admission().inFlight.values()) sum += count;
  return sum;
}

/** True for the load of the run that owns the target: only its opener has the run's key. */
function isLoadOfRun({ run }: PurchasePlan, runKey: string | null): boolean {
  const expected = run?.assignment.runKey;
  if (runKey === null || expected === undefined || expected.length !== runKey.length) return false;
  const [given, known] = [Buffer.from(runKey), Buffer.from(expected)];
  return given.length === known.length && timingSafeEqual(given, known);
}

interface Limited {
  /** Requests with the same bucket share a limit. */
  readonly bucket: string;
  readonly field: string;
  readonly what: string;
}

function limitRate(limits: BuyerLimits, { bucket, field, what }: Limited): void {
  const waitMs = limits.take(bucket, performance.now());
  if (waitMs === 0) return;
  metrics().refusals.add("rate_limited");
  const { BUYER_RATE_PER_SECOND: rate, BUYER_RATE_BURST: burst } = env();
  throw new HttpError({
    code: "rate_limited",
    message: `${field}: too many ${what}. The limit is ${rate} per second, ${burst} at once. Retry after ${waitMs} ms.`,
    details: { field, retryAfterMs: waitMs },
    retryAfterSeconds: Math.ceil(waitMs / 1_000),
  });
}

function overloaded(resource: string): HttpError {
  metrics().refusals.add("overloaded");
  return new HttpError({
    code: "overloaded",
    message: `This node already has ${env().MAX_PURCHASES_PER_RESOURCE} purchases of ${resource} in flight. Retry.`,
    details: { resource },
  });
}

function admission(): Admission {
  return processSingleton("admission", () => {
    const { BUYER_RATE_PER_SECOND: ratePerSecond, BUYER_RATE_BURST: burst, BUYER_RATE_BUYERS: maxBuyers } = env();
    const limits = ratePerSecond > 0 ? new BuyerLimits({ ratePerSecond, burst, maxBuyers }) : null;
    gauge({
      name: "flash_sale_purchases_in_flight",
      help: "Purchases that were admitted and have no response yet.",
      read: purchasesInFlight,
    });
    return { limits, inFlight: new Map<string, number>() };
  });
}
