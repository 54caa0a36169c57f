import { z } from "zod";
import type { PurchaseResult } from "../shop/purchase";
import { PurchaseFailure, purchase } from "../shop/purchase";
import { targetExists } from "../shop/targets";
import type { StockTarget } from "../stock/types";
import { admitted } from "./admission";
import { currentNode } from "./current-node";
import { errorBody, HttpError, invalidField, notFound, toHttpError } from "./errors";

/**
 * The hot routes as one function: `POST /api/products/{id}/reduce-stock` and `POST /api/coupons/{id}/claim`.
 * `server.ts` reaches it before Next, the Next route handlers reach it too; a parity test holds the two together.
 */

export interface HotRequest {
  readonly method: string;
  readonly kind: StockTarget["kind"];
  /** The path's id, unparsed. */
  readonly idText: string;
  readonly contentType: string | null;
  /** Value of `x-run-id`, when the load of a run sent it. */
  readonly runId: string | null;
  /** Value of `x-run-key`, which the opener of a run was given. */
  readonly runKey: string | null;
  /** The whole body, or null when it was longer than MAX_BODY_BYTES. */
  readonly body: string | null;
}

export interface HotResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const MAX_BODY_BYTES = 1_024;
const MAX_ID = 2_147_483_647;
const HOT_PATH = /^\/api\/(?:products\/([^/?]+)\/reduce-stock|coupons\/([^/?]+)\/claim)\/?(?:\?.*)?$/;

const buyerId = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9_.:@-]+$/, "may hold letters, digits and _ . : @ - only");
/** Bodies of the hot routes. */
export const purchaseBodySchemas = {
  product: z.strictObject({ userId: buyerId, quantity: z.int().min(1).max(100).default(1) }),
  coupon: z.strictObject({ userId: buyerId }),
};

/** The target a path names, or null when the path is none of the hot routes. */
export function matchHotPath(path: string): Pick<HotRequest, "kind" | "idText"> | null {
  const match = HOT_PATH.exec(path);
  if (!match) return null;
  return match[1] !== undefined ? { kind: "product", idText: match[1] } : { kind: "coupon", idText: match[2] ?? "" };
}

export async function handleHotRequest(request: HotRequest): Promise<HotResponse> {
  const node = currentNode();
  const headers: Record<string, string> = {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    "x-store-node": node.name,
    "x-lock-strategy": node.activeStrategy,
  };
  try {
    const { target, input } = parse(request);
    const applicant = { target, buyerId: input.buyerId, runKey: request.runKey };
    const result = await admitted(applicant, async () => {
      if (!(await targetExists(target))) throw notFound(`${target.kind} ${target.id}`);
      refuseStrayRun(request, target);
      return purchase(node, { target, ...input });
    });
    headers["x-lock-strategy"] = result.strategyId;
    return answer(headers, result, { target, ...input });
  } catch (error) {
    if (error instanceof PurchaseFailure) headers["x-lock-strategy"] = error.strategyId;
    const { options } = toHttpError(error);
    return {
      status: options.status,
      headers: { ...headers, ...options.headers },
      body: JSON.stringify(errorBody(options)),
    };
  }
}

interface Parsed {
  readonly target: StockTarget;
  readonly input: { readonly buyerId: string; readonly quantity: number };
}

function parse(request: HotRequest): Parsed {
  if (request.method !== "POST") {
    const message = `${request.method} is not allowed here; use POST.`;
    throw new HttpError({ status: 405, code: "method_not_allowed", message, headers: { allow: "POST" } });
  }
  if (!/^application\/json\s*(;|$)/i.test(request.contentType ?? "")) {
    const details = { field: "content-type" };
    const message = "content-type: must be application/json";
    throw new HttpError({ status: 415, code: "unsupported_media_type", message, details });
  }
  if (request.body === null) {
    const message = `body: longer than ${MAX_BODY_BYTES} bytes`;
    throw new HttpError({ status: 413, code: "body_too_large", message, details: { field: "body" } });
  }
  const id = parseTargetId(request.idText);
  return { target: { kind: request.kind, id }, input: parseBody(request.kind, request.body) };
}

/** @throws HttpError 400 that names `id` */
export function parseTargetId(text: string): number {
  const id = /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : 0;
  if (id < 1 || id > MAX_ID) throw invalidField("id", "must be a whole number of 1 or more");
  return id;
}

function parseBody(kind: StockTarget["kind"], text: string): Parsed["input"] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw invalidField("body", "is not JSON");
  }
  const result = purchaseBodySchemas[kind].safeParse(json);
  if (!result.success) throw fromIssues(result.error.issues);
  const body: { userId: string; quantity?: number } = result.data;
  return { buyerId: body.userId, quantity: body.quantity ?? 1 };
}

/** The first thing that is wrong, with its field named. */
export function fromIssues(issues: readonly z.core.$ZodIssue[]): HttpError {
  const issue = issues[0];
  if (issue?.code === "unrecognized_keys")
    return invalidField(issue.keys[0] ?? "body", "is not a field of this request");
  return invalidField(issue?.path.join(".") || "body", issue?.message ?? "is not valid");
}

/** A load generator's straggler must not count for another run, nor for the shop. */
function refuseStrayRun(request: HotRequest, target: StockTarget): void {
  if (request.runId === null) return;
  const run = currentNode().plan(target).run;
  if (run?.assignment.runId === request.runId) return;
  throw new HttpError({ status: 409, code: "run_closed", message: `Run ${request.runId} is not open on this node.` });
}

function answer(
  headers: Record<string, string>,
  result: PurchaseResult,
  input: Parsed["input"] & { target: StockTarget },
): HotResponse {
  const { outcome, strategyId } = result;
  const at = { strategy: strategyId, node: headers["x-store-node"] };
  if (outcome.status === "sold") {
    const { target, buyerId: userId, quantity } = input;
    const order = { id: outcome.orderId, [`${target.kind}Id`]: target.id, userId, quantity };
    return { status: 201, headers, body: JSON.stringify({ order, ...at }) };
  }
  const { status, message, retryAfterSeconds } = refusals[outcome.status];
  const details =
    outcome.status === "contended" ? { ...at, waitedMs: Math.round(outcome.waitedMs), attempts: outcome.attempts } : at;
  const body = JSON.stringify(errorBody({ status, code: outcome.status, message, details }));
  return {
    status,
    headers: retryAfterSeconds ? { ...headers, "retry-after": String(retryAfterSeconds) } : headers,
    body,
  };
}

const refusals = {
  sold_out: { status: 409, message: "Sold out.", retryAfterSeconds: 0 },
  limit_reached: { status: 409, message: "You already have as many as one buyer may have.", retryAfterSeconds: 0 },
  already_claimed: { status: 409, message: "You have already claimed this coupon.", retryAfterSeconds: 0 },
  token_used: { status: 409, message: "This purchase token has been used.", retryAfterSeconds: 0 },
  repeated_key: { status: 409, message: "There is an order with this Idempotency-Key.", retryAfterSeconds: 0 },
  contended: { status: 503, message: "Too many buyers at once; try again.", retryAfterSeconds: 1 },
};
