import { z } from "zod";
import { faultRequestSchema } from "../faults/request";
import { VIOLATION_KINDS } from "../history/finding";
import { countsSchema, percentilesSchema } from "../node/figures";
import { clientReportSchema } from "./client-report";
import { sweepMarkSchema } from "./sweep-mark";

/** The run document: the settings of a run, its figures, and its verdict. Contract of the HTTP API and the CLI. */

const count = z.int().min(0);
/** Milliseconds; null if nothing was measured. */
const millis = z.number().min(0).nullable();

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
  /** Units between the strategy's counter and the row. Absent: the run is older than the check. */
  counterDrift: count.optional(),
  negativeStock: count,
  duplicateClaims: count,
  overlappingHolds: count,
  staleWrites: count,
  /** Fencing tokens that did not rise from grant to grant. Absent, like the next six: the run is older than the check. */
  fencingOrder: count.optional(),
  /** Answers that no order of events explains: sold after "sold out", or an older ticket after a newer one. */
  ticketOrder: count.optional(),
  /** Purchases answered "sold" that do not have exactly one order. */
  acknowledgedRows: count.optional(),
  /** Purchases answered "sold" whose order a failover of the database lost. */
  failoverLosses: count.optional(),
  /** Purchases of unknown outcome that have more than one order. */
  unknownRows: count.optional(),
  /** Refused purchases that have an order. */
  refusedRows: count.optional(),
  /** Orders that belong to no purchase of the run. */
  strayRows: count.optional(),
});
export type RunViolations = z.infer<typeof violationsSchema>;

export const nodeResultSchema = z.object({
  node: z.string(),
  counts: countsSchema,
  /** Measured by the node, from the arrival of the request to its answer. */
  latencyMs: percentilesSchema,
  phasesMs: phasesSchema,
  peakInFlight: count,
  peakWaiters: count,
});
export type NodeResult = z.infer<typeof nodeResultSchema>;

/** One percentile of the latency, as the buyers and as the nodes measured it. */
export const latencyGapSchema = z.object({
  percentile: z.enum(["p50", "p99"]),
  clientMs: z.number().min(0),
  serverMs: z.number().min(0),
  /** The part that neither the generator's own delay nor the network explains; 0 if they explain all of it. */
  unexplainedMs: z.number().min(0),
});

/** The load generator's figures compared with the nodes' figures. */
export const agreementSchema = z.object({
  /** Purchases that the generator got an answer to. */
  answered: count,
  /** Purchases of the load that the nodes counted. */
  counted: count,
  /** Latency measured by the nodes, all nodes together. */
  serverLatencyMs: percentilesSchema,
  gaps: z.array(latencyGapSchema),
  /** The generator was so late that it measured itself, not the lock. */
  isStarved: z.boolean(),
  /** Each disagreement as a sentence; empty if the two agree. */
  flags: z.array(z.string()),
});
export type Agreement = z.infer<typeof agreementSchema>;

/** HdrHistograms (V2, compressed, base64) in whole microseconds. Histograms of several nodes or runs can be added up. */
export const histogramsSchema = z.object({
  latency: z.string(),
  poolWait: z.string(),
  wait: z.string(),
  hold: z.string(),
  commit: z.string(),
});
export type RunHistograms = z.infer<typeof histogramsSchema>;

const configSchema = z.object({
  stock: count,
  vus: count.nullable(),
  rate: count.nullable(),
  durationMs: count.nullable(),
  holdMs: count,
  ttlMs: count,
  waitTimeoutMs: count,
  /** Absent: fencing tokens were checked. */
  fencing: z.boolean().optional(),
  /** The requested faults. Their outcomes are in `faults` and `missedFaults` of the document. */
  faults: z.array(faultRequestSchema).optional(),
  /** Units that one buyer may have of the product; absent: no limit, and one for a coupon. */
  limitPerUser: z.int().min(1).optional(),
  nodes: count,
  engine: z.string(),
  seed: count,
  /** The requested row; absent: the run created one. */
  targetId: z.int().optional(),
  /** The sweep that this run belongs to. */
  sweep: sweepMarkSchema.optional(),
});

export const runDocumentSchema = z.object({
  id: z.string(),
  /** Given by a person after the run. Absent: none. */
  name: z.string().optional(),
  strategy: z.string(),
  target: z.object({ kind: z.enum(["product", "coupon"]), id: z.int() }),
  config: configSchema,
  startedAtEpochMs: count,
  /** Reading of the history's monotonic clock at `startedAtEpochMs`. Absent, like the later additions: an older run. */
  clock: z.object({ host: z.string(), startedNs: z.string() }).optional(),
  /** From the first purchase to the last answer; null while running. */
  durationMs: millis,
  /** `stopped`: a person ended the load early. `failed`: the load could not be sent. */
  status: z.enum(["running", "finished", "stopped", "failed"]),
  counts: countsSchema,
  /** How many of them people sent from the shop's pages, which no load generator counts; absent: none. */
  visitors: count.optional(),
  stock: z.object({
    initial: count,
    final: z.int(),
    orders: count,
    /** The stock counter that a strategy keeps outside PostgreSQL; null if it was gone; absent for other strategies. */
    counter: z.int().nullable().optional(),
  }),
  /** The verdict that the strategy's traits predict for this number of nodes, this work and lease, and these faults. */
  expected: z.enum(["safe", "unsafe"]),
  verdict: z.enum(["safe", "unsafe", "inconclusive"]),
  /** The verdict as sentences for people, most important first. */
  sentences: z.array(z.string()),
  violations: violationsSchema,
  /** Writes of stale holders that the resource refused by their fencing tokens. `counts.errors` includes them. Absent: none. */
  refusedStaleWrites: count.optional(),
  /** When each kind of violation was first seen, since the first purchase. Kinds without a known time are absent. */
  firstSeenMs: z.partialRecord(z.enum(VIOLATION_KINDS), z.number().min(0)).optional(),
  /** Latency of the buyers, if the load generator reported, else of the nodes (`latencySource`). */
  latencyMs: percentilesSchema,
  latencySource: z.enum(["client", "server"]),
  phasesMs: phasesSchema,
  /** The nodes' whole distributions. `latencyMs` and `phasesMs` have some points of them. */
  histograms: histogramsSchema.optional(),
  throughput: z.object({
    offeredPerSecond: z.number().nullable(),
    completedPerSecond: z.number().nullable(),
    /** Units that can be delivered: orders beyond the stock do not count. */
    soldPerSecond: z.number().nullable(),
  }),
  contention: z.object({
    /** A purchase waited, read or wrote while another held the lock or wrote. */
    certified: z.boolean(),
    /** Holds and writes during which that happened. Absent: the run is older than the measurement. */
    contendedSections: count.optional(),
    peakInFlight: count,
    peakWaiters: count,
    arrivalSkewMs: millis,
    droppedIterations: count.nullable(),
  }),
  fairness: z.object({ jain: z.number().nullable(), longestWaitMs: millis }),
  /** Time from a release to the next grant, if the next holder was already waiting. Absent: the run is older than the measurement. */
  handOff: z.object({ count, p50Ms: millis, p99Ms: millis, maxMs: millis }).optional(),
  nodes: z.array(nodeResultSchema),
  /** Faults that took effect. */
  faults: z.array(
    z.object({
      faultId: z.string(),
      fromNs: z.string(),
      toNs: z.string(),
      proof: z.string(),
      /** The store node whose process the fault stopped. */
      stoppedNode: z.string().optional(),
      /** The store node whose process the fault killed. */
      killedNode: z.string().optional(),
      /** The fault promoted a replica of the database. */
      promotedReplica: z.literal(true).optional(),
      /** The store node on which the fault delayed the work of one holder. */
      slowedNode: z.string().optional(),
    }),
  ),
  /** How the lock went on after each fault, in the order of `faults`; null if no purchase waited. Absent: no fault. */
  recovery: z
    .array(
      z
        .object({
          /** From the start of the fault to the next grant; null if there was none. */
          nextGrantMs: millis,
          /** Purchases that waited after the fault began and did not get the lock. */
          unserved: count,
          /** From the start of the fault to the end of the last wait. */
          watchedMs: z.number().min(0),
          /** From the start of the fault to the last grant; null if there was none. Absent, like the next: an older run. */
          lastGrantMs: millis.optional(),
          /** From the next grant to the slowest detection of the loss by its holder; negative: detected before. Null: no loss. */
          lossSignalMs: z.number().nullable().optional(),
        })
        .nullable(),
    )
    .optional(),
  /** Requested faults that were not seen to take effect. Absent: no fault was requested, or an older run. */
  missedFaults: z.array(z.object({ faultId: z.string(), reason: z.string() })).optional(),
  client: clientReportSchema.nullable(),
  /** Absent: the generator did not report. */
  agreement: agreementSchema.optional(),
  versions: z.record(z.string(), z.string()),
  machine: z.object({ cpus: count, cpuModel: z.string(), memoryMb: count, os: z.string() }),
});
export type RunDocument = z.infer<typeof runDocumentSchema>;
