import { z } from "zod";

/** What a node must know of a run; body of `PUT /api/node/runs/{id}`. */
export const assignmentSchema = z.strictObject({
  runId: z.string().min(1).max(64),
  strategy: z.string().min(1).max(64),
  target: z.strictObject({ kind: z.enum(["product", "coupon"]), id: z.int().min(1) }),
  holdMs: z.int().min(0),
  ttlMs: z.int().min(1),
  waitTimeoutMs: z.int().min(0),
  /** Whoever sends it with a purchase of this target is this run's load, and not held to a buyer's rate. */
  runKey: z.string().min(16).max(64).optional(),
  /** False: fencing tokens are not checked. */
  fencing: z.boolean().optional(),
});
export type RunAssignment = z.infer<typeof assignmentSchema>;

/** What one node does for all of them before a run opens; body of `POST /api/node/runs/{id}/prepare`. */
export const preparationSchema = assignmentSchema
  .pick({ strategy: true, target: true })
  .extend({ stock: z.int().min(0) });
export type RunPreparation = z.infer<typeof preparationSchema>;
