import { z } from "zod";
import { idempotencyKeySchema } from "../../shop/api";
import type { PathParam } from "../route";

/** Path parameters and headers that several routes share. */

const MAX_ROW_ID = 2_147_483_647;
const WHOLE_NUMBER = "must be a whole number of 1 or more";

/** Primary key of a product or coupon. */
export const rowId: PathParam<number> = {
  schema: z.int().min(1).max(MAX_ROW_ID).describe("Primary key of the product or coupon."),
  rule: WHOLE_NUMBER,
  parse(text) {
    const id = /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : 0;
    return id >= 1 && id <= MAX_ROW_ID ? id : null;
  },
};

const ORDER_ID = /^[1-9][0-9]{0,17}$/;

export const orderId: PathParam<string> = {
  schema: z.string().regex(ORDER_ID).describe("The order's id, as the purchase returned it."),
  rule: WHOLE_NUMBER,
  parse: (text) => (ORDER_ID.test(text) ? text : null),
};

export const runId = name("The run's id, as POST /api/runs returned it.");
export const sweepId = name("The sweep's id, as GET /api/sweeps lists it.");
export const findingName = name("The finding's name, as the list of findings has it.");

function name(description: string): PathParam<string> {
  return {
    schema: z.string().min(1).max(64).describe(description),
    rule: "must have 1 to 64 characters",
    parse: (text) => (text.length >= 1 && text.length <= 64 ? text : null),
  };
}

export const runHeaders = {
  "x-run-id": { schema: z.string().max(64), description: "The run that this purchase belongs to. It must be open." },
  "x-run-key": {
    schema: z.string().max(64),
    description: "The key that POST /api/runs returned. It exempts the run's load from the rate limit.",
  },
};

export const idempotencyHeaders = {
  "idempotency-key": {
    schema: idempotencyKeySchema,
    description: "A repeated request with the same key and body gets the first response and has no further effect.",
  },
};
