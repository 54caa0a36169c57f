import { z } from "zod";
import { faultRequestSchema, MAX_FAULTS_PER_RUN } from "../faults/request";
import { clientReportSchema } from "./client-report";
import { MAX_BUYERS } from "./engines/buyer-limit";
import { sweepMarkSchema } from "./sweep-mark";

/** The bodies of the requests that open and finish a run. Part of the HTTP API. */

export const targetSchema = z.strictObject({
  kind: z.enum(["product", "coupon"]).default("product"),
  /** The row to sell; absent: the run creates a row. */
  id: z.int().min(1).optional(),
});

/** Body of `POST /api/runs`. */
export const runRequestSchema = z.strictObject({
  strategy: z.string().min(1).max(64),
  target: targetSchema.default({ kind: "product" }),
  /** Units on sale. */
  stock: z.int().min(1).max(1_000_000).default(100),
  /** Buyers that start together, one purchase each. Ignored if `rate` is given. With `launch`, the machine may allow fewer. */
  vus: z.int().min(1).max(MAX_BUYERS).default(500),
  /** Purchases per second, for an arrival-rate run instead of doors-open. */
  rate: z.int().min(1).max(50_000).optional(),
  /** Length of an arrival-rate run. */
  durationMs: z.int().min(500).max(600_000).default(10_000),
  /** Business logic inside the critical section. */
  holdMs: z.int().min(0).max(10_000).default(5),
  /** Lease length, for strategies that have one. */
  ttlMs: z.int().min(100).max(120_000).default(5_000),
  /** How long a purchase waits for its lock. */
  waitTimeoutMs: z.int().min(0).max(60_000).default(10_000),
  /** False: the fencing token of a strategy that has one is not checked, to show the difference. Absent: checked. */
  fencing: z.boolean().optional(),
  /** Faults that the lab injects while the load is on; absent: none. */
  faults: z.array(faultRequestSchema).max(MAX_FAULTS_PER_RUN).optional(),
  /** Number of store nodes that serve the run; absent: all of them. */
  nodes: z.int().min(1).max(16).optional(),
  engine: z.enum(["k6", "builtin", "external"]).default("external"),
  /** Seed of the load generator. */
  seed: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .default(1),
  /** True: the lab starts the engine itself. False: the caller sends the load and finishes the run. */
  launch: z.boolean().default(false),
  /** The sweep that this run belongs to. */
  sweep: sweepMarkSchema.optional(),
});
export type RunRequest = z.infer<typeof runRequestSchema>;

/** Body of `POST /api/runs/{id}/finish`. */
export const finishRequestSchema = z.strictObject({
  client: clientReportSchema.optional(),
  /** The load is over and the client's report follows in a second call. The run stays `running` until then, for at most 10 s. */
  awaitClientReport: z.boolean().default(false),
});
export type FinishRequest = z.infer<typeof finishRequestSchema>;
