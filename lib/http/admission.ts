import { timingSafeEqual } from "node:crypto";
import { currentNode } from "../node/current-node";
import { env } from "../services/current-env";
import { gauge, metrics } from "../services/metrics";
import { processSingleton } from "../services/singleton";
import { resourceOf, type StockTarget } from "../stock/types";
import { BuyerLimits } from "./buyer-limits";
import { HttpError } from "./errors";

/**
 * Who may go on to the locks: a buyer within his rate, and no more of them at once for one resource than this node will
 * keep waiting. See docs/decisions/150-admission-ahead-of-the-locks.md.
 */

export interface AdmissionRequest {
  readonly target: StockTarget;
  readonly buyerId: string;
  /** Value of `x-run-key`, or null. */
  readonly runKey: string | null;
}

interface Admission {
  readonly limits: BuyerLimits | null;
  /** Purchases withAdmission and not answered, by resource; a resource without any takes no room. */
  readonly inside: Map<string, number>;
}

/**
 * Runs a purchase if it may be run now.
 * @throws HttpError 429 `rate_limited`, 503 `overloaded`, both with Retry-After
 */
export async function withAdmission<T>(applicant: AdmissionRequest, purchase: () => Promise<T>): Promise<T> {
  const { limits, inside } = admission();
  const { buyerId } = applicant;
  if (limits && !isLoadOfRun(applicant))
    refuseTooFast(limits, { bucket: buyerId, field: "userId", what: "purchases of one buyer" });
  const resource = resourceOf(applicant.target);
  const count = inside.get(resource) ?? 0;
  if (count >= env().MAX_PURCHASES_PER_RESOURCE) throw overloaded(resource);
  inside.set(resource, count + 1);
  try {
    return await purchase();
  } finally {
    const left = (inside.get(resource) ?? 1) - 1;
    if (left > 0) inside.set(resource, left);
    else inside.delete(resource);
  }
}

/**
 * A visitor may pay and cancel as fast as he may buy, whatever he has bought: a payment may be what takes the stock.
 * @throws HttpError 429 `rate_limited` with Retry-After
 */
export function admitOrderAction(buyerId: string): void {
  const { limits } = admission();
  const what = "payments and cancellations of one visitor";
  if (limits) refuseTooFast(limits, { bucket: `orders of ${buyerId}`, field: "cookie", what });
}

/** How many purchases this node has withAdmission and not answered. */
export function purchasesInside(): number {
  let sum = 0;
  for (const count of admission().inside.values()) sum += count;
  return sum;
}

/** The load of an open run on that run's own target: whoever has the key opened the run, or was told by who did. */
function isLoadOfRun({ target, runKey }: AdmissionRequest): boolean {
  if (runKey === null) return false;
  const expected = currentNode().plan(target).run?.assignment.runKey;
  if (expected === undefined || expected.length !== runKey.length) return false;
  const [given, known] = [Buffer.from(runKey), Buffer.from(expected)];
  return given.length === known.length && timingSafeEqual(given, known);
}

interface Rated {
  /** What is counted together. */
  readonly bucket: string;
  readonly field: string;
  readonly what: string;
}

function refuseTooFast(limits: BuyerLimits, { bucket, field, what }: Rated): void {
  const waitMs = limits.take(bucket, performance.now());
  if (waitMs === 0) return;
  metrics().refusals.add("rate_limited");
  const { BUYER_RATE_PER_SECOND: rate, BUYER_RATE_BURST: burst } = env();
  throw new HttpError({
    status: 429,
    code: "rate_limited",
    message: `${field}: too many ${what}; ${rate} a second are withAdmission, ${burst} at once.`,
    details: { field, retryAfterMs: waitMs },
    headers: { "retry-after": String(Math.ceil(waitMs / 1_000)) },
  });
}

function overloaded(resource: string): HttpError {
  metrics().refusals.add("overloaded");
  return new HttpError({
    status: 503,
    code: "overloaded",
    message: `${env().MAX_PURCHASES_PER_RESOURCE} purchases of ${resource} are waiting on this node already.`,
    details: { resource },
    headers: { "retry-after": "1" },
  });
}

function admission(): Admission {
  return processSingleton("admission", () => {
    const { BUYER_RATE_PER_SECOND: ratePerSecond, BUYER_RATE_BURST: burst, BUYER_RATE_BUYERS: maxBuyers } = env();
    const limits = ratePerSecond > 0 ? new BuyerLimits({ ratePerSecond, burst, maxBuyers }) : null;
    const inside = new Map<string, number>();
    gauge({
      name: "flash_sale_purchases_in_flight",
      help: "Purchases withAdmission and not answered.",
      read: purchasesInside,
    });
    return { limits, inside };
  });
}
