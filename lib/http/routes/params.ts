import { z } from "zod";
import { idempotencyKeySchema } from "../../shop/api";

/** Parts of paths and headers, as the document shows them; the handlers have their own way of refusing them. */

export const rowId = z.int().min(1).max(2_147_483_647).describe("Primary key of a product or coupon.");
export const runId = z.string().min(1).max(64).describe("As POST /api/runs answered it.");

export const runHeaders = {
  "x-run-id": { schema: z.string().max(64), description: "The run this purchase is sent for; it must be open." },
  "x-run-key": {
    schema: z.string().max(64),
    description: "The key that opening the run gave: its load is held to no rate.",
  },
};

export const idempotencyHeaders = {
  "idempotency-key": {
    schema: idempotencyKeySchema,
    description: "The same key and body again: the first answer again, and nothing done twice.",
  },
};
