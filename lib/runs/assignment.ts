import { z } from "zod";

/** What a node must know of a run; body of `PUT /api/node/runs/{id}`. */
export const assignmentSchema = z.strictObject({
  runId: z.string().min(1).max(64),
  strategy: z.string().min(1).max(64),
  target: z.strictObject({ kind: z.enum(["product", "coupon"]), id: z.int().min(1) }),
  holdMs: z.int().min(0),
  ttlMs: z.int().min(1),
  waitTimeoutMs: z.int().min(0),
});
export type RunAssignment = z.infer<typeof assignmentSchema>;
