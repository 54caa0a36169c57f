import { z } from "zod";
import { faultRequestSchema, MAX_FAULTS_PER_RUN } from "../faults/request";
import { countsSchema, percentilesSchema } from "../node/figures";
import { sweepMarkSchema } from "./sweep-mark";

/** The run document: what a run was, what happened, and what the checkers conclude. Contract of the HTTP API and the CLI. */

const count = z.int().min(0);
/** Milliseconds; null where nothing was measured. */
const millis = z.number().min(0).nullable();

export const targetSchema = z.strictObject({
  kind: z.enum(["product", "coupon"]).default("product"),
  /** Row to sell; absent: the run makes a row of its own. */
  id: z.int().min(1).optional(),
});

/** Body of `POST /api/runs`. */
export const runRequestSchema = z.strictObject({
  strategy: z.string().min(1).max(64),
  target: targetSchema.default({ kind: "product" }),
  /** Units on sale. */
  stock: z.int().min(1).max(1_000_000).default(100),
  /** Buyers that start together, one purchase each. Ignored when `rate` is given. */
  vus: z.int().min(1).max(20_000).default(500),
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
  /** False leaves the fencing token of a strategy that has one unchecked, so that the difference shows; absent: checked. */
  fencing: z.boolean().optional(),
  /** What the lab does to the run while its load is on; absent: nothing. */
  faults: z.array(faultRequestSchema).max(MAX_FAULTS_PER_RUN).optional(),
  /** How many store nodes serve the run; absent: all of them. */
  nodes: z.int().min(1).max(16).optional(),
  engine: z.enum(["k6", "builtin", "external"]).default("external"),
  /** Seed of the load generator's choices. */
  seed: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .default(1),
  /** True: the lab starts the engine itself. False: the caller sends the load and finishes the run. */
  launch: z.boolean().default(false),
  /** The sweep this run is one cell of. */
  sweep: sweepMarkSchema.optional(),
});
export type RunRequest = z.infer<typeof runRequestSchema>;

/** A distribution read off at more places than `percentilesSchema` names, without its maximum. */
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

/** What the load generator saw, sent with `POST /api/runs/{id}/finish`. */
export const clientReportSchema = z.strictObject({
  engine: z.string().max(100),
  /** Purchases sent. */
  iterations: count,
  droppedIterations: count,
  /** Requests that got no HTTP answer. */
  failedRequests: count.default(0),
  /** From the first to the last buyer's start, doors-open runs only. */
  arrivalSkewMs: millis.default(null),
  latencyMs: percentilesSchema,
  /** `latencyMs` at more percentiles, for the curve of the run's page; those of `CURVE_PERCENTILES`, from our generators. */
  curve: curveSchema.optional(),
  /** p99 of how late the generator itself sent a purchase: a starved generator measures itself, not the lock. */
  generatorLagP99Ms: z.number().min(0).optional(),
  /** The generator's own use of the processor, 100 = one core: of k6 in its busiest second, else over its load. Absent: not known. */
  generatorCpuPercent: z.number().min(0).optional(),
  /** What nobody on the machine used in that same second, 100 = one core; where the lab watched the generator. */
  generatorSparePercent: z.number().min(0).optional(),
  /** The program that the lab watched. */
  generatorProcess: z.string().max(100).optional(),
  /** Why `generatorCpuPercent` is absent. */
  generatorCpuUnknown: z.string().max(200).optional(),
});
export type ClientReport = z.infer<typeof clientReportSchema>;

/** Body of `POST /api/runs/{id}/finish`. */
export const finishRequestSchema = z.strictObject({
  client: clientReportSchema.optional(),
  /** The load is over but the client's report comes in a second call; the run stays `running` until then, at most 10 s. */
  awaitClientReport: z.boolean().default(false),
});
export type FinishRequest = z.infer<typeof finishRequestSchema>;

export const phasesSchema = z.object({
  poolWait: percentilesSchema,
  wait: percentilesSchema,
  hold: percentilesSchema,
  commit: percentilesSchema,
});
export type RunPhases = z.infer<typeof phasesSchema>;

export const violationsSchema = z.object({
  oversold: count,
  lostUpdates: count,
  undersold: count,
  negativeStock: count,
  duplicateClaims: count,
  overlappingHolds: count,
  staleWrites: count,
  /** Fencing tokens that did not rise from grant to grant. Absent, as the next five: judged before it was looked for. */
  fencingOrder: count.optional(),
  /** Sales and refusals that no order of events explains: sold after "sold out", an older ticket after a newer. */
  ticketOrder: count.optional(),
  /** Purchases answered "sold" that have not exactly one row. */
  acknowledgedRows: count.optional(),
  /** Purchases of unknown outcome that have more than one row. */
  unknownRows: count.optional(),
  /** Purchases that were refused and have a row. */
  refusedRows: count.optional(),
  /** Rows that no purchase asked for. */
  strayRows: count.optional(),
});
export type RunViolations = z.infer<typeof violationsSchema>;

export const nodeResultSchema = z.object({
  node: z.string(),
  counts: countsSchema,
  /** The node's own view: request in to answer out. */
  latencyMs: percentilesSchema,
  phasesMs: phasesSchema,
  peakInFlight: count,
  peakWaiters: count,
});
export type NodeResult = z.infer<typeof nodeResultSchema>;

/** One percentile as the buyers saw it and as the nodes did; milliseconds. */
export const latencyGapSchema = z.object({
  percentile: z.enum(["p50", "p99"]),
  clientMs: z.number().min(0),
  serverMs: z.number().min(0),
  /** What neither the generator's own lateness nor the network explains; 0 when they explain all of it. */
  unexplainedMs: z.number().min(0),
});

/** The load generator's word beside the nodes'. docs/decisions/124 says what is allowed between them. */
export const agreementSchema = z.object({
  /** Purchases the generator got an answer to, and those the nodes counted. */
  answered: count,
  counted: count,
  /** The nodes' own view of latency, all nodes together. */
  serverLatencyMs: percentilesSchema,
  gaps: z.array(latencyGapSchema),
  /** The generator was too late with its purchases to measure anything but itself. */
  isStarved: z.boolean(),
  /** Each disagreement as a sentence; empty when the two agree. */
  flags: z.array(z.string()),
});
export type Agreement = z.infer<typeof agreementSchema>;

/** Base64 of HdrHistograms (V2, compressed), whole microseconds; those of several nodes or runs can be added up. */
export const histogramsSchema = z.object({
  latency: z.string(),
  poolWait: z.string(),
  wait: z.string(),
  hold: z.string(),
  commit: z.string(),
});
export type RunHistograms = z.infer<typeof histogramsSchema>;

export const runDocumentSchema = z.object({
  id: z.string(),
  strategy: z.string(),
  target: z.object({ kind: z.enum(["product", "coupon"]), id: z.int() }),
  config: z.object({
    stock: count,
    vus: count.nullable(),
    rate: count.nullable(),
    durationMs: count.nullable(),
    holdMs: count,
    ttlMs: count,
    waitTimeoutMs: count,
    /** Absent: fencing tokens were checked. */
    fencing: z.boolean().optional(),
    /** The faults that were asked for; what came of them is in `faults` and `missedFaults`. */
    faults: z.array(faultRequestSchema).optional(),
    /** Units one buyer may have of the product sold; absent: as many as there are, and of a coupon one. */
    limitPerUser: z.int().min(1).optional(),
    nodes: count,
    engine: z.string(),
    seed: count,
    /** The row that was asked for; absent: the run made one of its own. */
    targetId: z.int().optional(),
    /** The sweep this run is one cell of. */
    sweep: sweepMarkSchema.optional(),
  }),
  startedAtEpochMs: count,
  /** The monotonic clock of the history's times at that same moment. Absent, as the next additions: an older run. */
  clock: z.object({ host: z.string(), startedNs: z.string() }).optional(),
  /** From the first purchase to the last answer; null while running. */
  durationMs: millis,
  status: z.enum(["running", "finished", "failed"]),
  counts: countsSchema,
  /** Those of them that people sent from the shop's pages, and no load generator knows of; absent: none. */
  visitors: count.optional(),
  stock: z.object({
    initial: count,
    final: z.int(),
    orders: count,
    /** What a strategy that counts outside of PostgreSQL had left there; null when it had nothing; absent for the others. */
    counter: z.int().nullable().optional(),
  }),
  /** What the catalogue expects of this strategy with these nodes, this work and lease, and these faults. */
  expected: z.enum(["safe", "unsafe"]),
  verdict: z.enum(["safe", "unsafe", "inconclusive"]),
  /** The verdict as sentences a colleague would say, most important first. */
  sentences: z.array(z.string()),
  violations: violationsSchema,
  /** When the first harm was done, since the first purchase; absent: none was, it has no moment, or an older run. */
  firstViolationMs: z.number().min(0).optional(),
  /** What the buyer saw; from the load generator when it reported, else from the nodes (`latencySource`). */
  latencyMs: percentilesSchema,
  latencySource: z.enum(["client", "server"]),
  phasesMs: phasesSchema,
  /** The nodes' whole distributions, of which `phasesMs` has a few points. */
  histograms: histogramsSchema.optional(),
  throughput: z.object({
    offeredPerSecond: z.number().nullable(),
    completedPerSecond: z.number().nullable(),
    soldPerSecond: z.number().nullable(),
  }),
  contention: z.object({
    certified: z.boolean(),
    peakInFlight: count,
    peakWaiters: count,
    arrivalSkewMs: millis,
    droppedIterations: count.nullable(),
  }),
  fairness: z.object({ jain: z.number().nullable(), longestWaitMs: millis }),
  /** From a release to the next grant, where that one was already waiting. Absent: judged before it was measured. */
  handOff: z.object({ count, p50Ms: millis, p99Ms: millis, maxMs: millis }).optional(),
  nodes: z.array(nodeResultSchema),
  /** What was done to the run and seen to take effect. */
  faults: z.array(z.object({ faultId: z.string(), fromNs: z.string(), toNs: z.string(), proof: z.string() })),
  /** Faults that were asked for and not seen to take effect. Absent: none was asked for, or an older run. */
  missedFaults: z.array(z.object({ faultId: z.string(), reason: z.string() })).optional(),
  client: clientReportSchema.nullable(),
  /** Absent: the generator did not report. */
  agreement: agreementSchema.optional(),
  versions: z.record(z.string(), z.string()),
  machine: z.object({ cpus: count, cpuModel: z.string(), memoryMb: count, os: z.string() }),
});
export type RunDocument = z.infer<typeof runDocumentSchema>;

/** One point of the live feed (SSE event `sample`), about four a second, cumulative unless said otherwise. */
export const runSampleSchema = z.object({
  seq: count,
  /** Since the run was opened. */
  atMs: z.number().min(0),
  stockLeft: z.int(),
  /** Orders in the database. */
  orders: count,
  /** max(0, orders - initial). */
  oversold: count,
  counts: countsSchema,
  /** Over the last interval. */
  soldPerSecond: z.number().min(0),
  completedPerSecond: z.number().min(0),
  inFlight: count,
  waiters: count,
  /** The nodes' view, whole run so far. */
  latencyMs: percentilesSchema,
  /** Median of each phase over the last interval; null when nothing completed in it. */
  phaseMediansMs: z.object({ poolWait: millis, wait: millis, hold: millis, commit: millis }),
  nodes: z.array(
    z.object({
      node: z.string(),
      sold: count,
      requests: count,
      inFlight: count,
      waiters: count,
      p50Ms: millis,
      p99Ms: millis,
    }),
  ),
});
export type RunSample = z.infer<typeof runSampleSchema>;

/**
 * Events of `GET /api/runs/{id}/events`: `run` (the document so far, first), `sample` (id = seq), `finished` (the final
 * document, last; the server then closes the stream).
 */
export type RunEvent =
  | { readonly event: "run"; readonly data: RunDocument }
  | { readonly event: "sample"; readonly data: RunSample }
  | { readonly event: "finished"; readonly data: RunDocument };
