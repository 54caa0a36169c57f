import { z } from "zod";
import { percentilesSchema } from "../node/figures";

const count = z.int().min(0);

/** Points of a latency distribution, rising and without the maximum. */
const curveSchema = z
  .array(z.strictObject({ percentile: z.number().min(0).lt(100), ms: z.number().min(0) }))
  .max(64)
  .refine(
    (points) =>
      points.every(({ percentile, ms }, at) => {
        const before = points[at - 1];
        return before === undefined || (before.percentile < percentile && before.ms <= ms);
      }),
    "must rise from point to point",
  );

/** What the load generator measured, sent with `POST /api/runs/{id}/finish`. */
export const clientReportSchema = z.strictObject({
  engine: z.string().max(100),
  /** Purchases sent. */
  iterations: count,
  /** Purchases not sent, because too many were in flight. */
  droppedIterations: count,
  /** Requests that got no HTTP answer. */
  failedRequests: count.default(0),
  /** Time between the start of the first and the last buyer; doors-open runs only. */
  arrivalSkewMs: z.number().min(0).nullable().default(null),
  latencyMs: percentilesSchema,
  /** The latency at more percentiles, for the curve on the run's page. The lab's own generators send those of `CURVE_PERCENTILES`. */
  curve: curveSchema.optional(),
  /** p99 of the delay with which the generator sent a purchase: a generator that falls behind measures itself, not the lock. */
  generatorLagP99Ms: z.number().min(0).optional(),
  /** CPU use of the generator, 100 = one core: of k6 in its busiest second, of others over the whole load. Absent: not known. */
  generatorCpuPercent: z.number().min(0).optional(),
  /** Idle CPU time of the machine in that same second, 100 = one core. Only for a generator that the lab started. */
  generatorSparePercent: z.number().min(0).optional(),
  /** Name of the program that the lab started. */
  generatorProcess: z.string().max(100).optional(),
  /** Why `generatorCpuPercent` is absent. */
  generatorCpuUnknown: z.string().max(200).optional(),
});
export type ClientReport = z.infer<typeof clientReportSchema>;
