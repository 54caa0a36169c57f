import { z } from "zod";
import { stopOutcomeSchema } from "../../node/node-stops";
import { runDocumentSchema } from "../../runs/document";
import { runSampleSchema } from "../../runs/run-sample";

/** Schemas of answers, apart from run documents. The tests check real answers against them; production does not. */

const count = z.int().min(0);

export const errorSchema = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
});

const survival = z.enum(["survives", "blocks", "breaks", "not-applicable"]);
const expectedVerdict = z.enum(["safe", "unsafe"]);

export const strategySchema = z.object({
  id: z.string(),
  family: z.string(),
  familyLabel: z.string(),
  needsLabels: z.array(z.string()),
  kind: z.enum(["lock", "atomic"]),
  mechanism: z.string(),
  remark: z.string(),
  needs: z.array(z.string()),
  waiting: z.string(),
  fair: z.boolean(),
  expiryClock: z.string(),
  fencingSource: z.string().nullable(),
  expected: z.object({ alone: expectedVerdict, threeNodes: expectedVerdict }),
  ownerless: z.literal(true).optional(),
  survives: z.object({ holderCrash: survival, holderPause: survival, serverRestart: survival }),
  available: z.boolean(),
  unavailableReason: z.string().nullable(),
});

export const labDescriptionSchema = z.looseObject({
  active: z.string(),
  strategies: z.array(strategySchema),
  services: z.array(
    z.object({
      id: z.string(),
      label: z.string(),
      present: z.boolean(),
      checking: z.boolean(),
      reason: z.string().nullable(),
    }),
  ),
  engines: z.array(
    z.object({
      id: z.string(),
      available: z.boolean(),
      version: z.string().nullable(),
      reason: z.string().nullable(),
      maxBuyers: count,
      limitedBy: z.string(),
    }),
  ),
  nodes: z.array(z.object({ name: z.string(), url: z.string() })),
  faults: z.array(
    z.object({
      id: z.string(),
      does: z.string(),
      topology: z.string().nullable(),
      reasonsAgainst: z.record(z.string(), z.string()),
    }),
  ),
  adminTokenRequired: z.boolean(),
});

export const activeStrategySchema = z.object({
  id: z.string().nullable(),
  nodes: z.record(z.string(), z.string().nullable()),
});
export const switchedSchema = z.object({ id: z.string(), nodes: z.array(z.string()) });
export const runsSchema = z.object({ runs: z.array(runDocumentSchema) });
/** A page of the list, the number of runs on all pages, and the run that a process opens now. */
export const runListSchema = z.object({
  ...runsSchema.shape,
  total: count,
  preparing: runDocumentSchema.nullable(),
});
export const deletedSchema = z.object({ deleted: z.literal(true) });
export const samplesSchema = z.object({ samples: z.array(runSampleSchema) });

const sweep = {
  id: z.string(),
  repeats: count,
  strategies: z.array(z.string()),
  startedAtEpochMs: count,
  done: count,
  total: count,
};
/** Null unless the answering process makes the sweep now. */
const sweepProgress = z.object({ remainingMs: z.int().min(0).nullable(), problems: z.array(z.string()) }).nullable();
export const sweepsSchema = z.object({ sweeps: z.array(z.object({ ...sweep, active: sweepProgress })) });
export const sweepCancelledSchema = z.object({ cancelled: z.literal(true) });
export const sweepSchema = z.object({
  ...sweep,
  active: sweepProgress,
  cells: z.array(z.object({ strategy: z.string(), repeat: count, run: runDocumentSchema.nullable() })),
});

export const findingsSchema = z.looseObject({
  verdict: z.enum(["safe", "unsafe", "inconclusive"]),
  operations: count,
  findings: z.array(z.looseObject({})),
});
export const seriesSchema = z.object({
  series: z
    .looseObject({
      stepUs: z.number().min(0),
      operations: count,
      steps: z.looseObject({ ordered: z.array(count), answered: z.array(count) }),
    })
    .nullable(),
  faults: z.array(z.looseObject({ faultId: z.string(), fromUs: z.int(), toUs: z.int(), proof: z.string() })),
});
export const evidenceSchema = z.looseObject({
  verdict: findingsSchema.shape.verdict,
  lanes: z.array(z.string()),
  endUs: z.number().min(0),
  findings: findingsSchema.shape.findings,
  /** Null if there is no finding. */
  first: z.looseObject({}).nullable(),
  firstRange: z.object({ fromUs: count, toUs: count }),
});
export const timelineSchema = z.looseObject({
  lanes: z.array(z.string()),
  endUs: z.number().min(0),
  spans: z.looseObject({ lane: z.array(count), row: z.array(count) }),
});

export const nodeStrategySchema = z.object({ id: z.string(), node: z.string() });
export const nodeRunSchema = z.object({ runId: z.string(), node: z.string(), known: z.boolean().optional() });
export const reservedSchema = z.object({ runId: z.string(), node: z.string(), inFlight: count });
export const armedSchema = z.object({ runId: z.string(), node: z.string(), place: count });
export const stopOutcomesSchema = z.object({
  runId: z.string(),
  node: z.string(),
  /** Process instance that answers. */
  instance: z.string(),
  outcomes: z.array(stopOutcomeSchema),
});
const histogram = z.string();
export const nodeStatsSchema = z.object({
  node: z.string(),
  runId: z.string(),
  counts: runDocumentSchema.shape.counts,
  inFlight: count,
  waiters: count,
  peakInFlight: count,
  recorded: count,
  dropped: count,
  incompleteInstances: count,
  histograms: z.object({
    latency: histogram,
    poolWait: histogram,
    wait: histogram,
    hold: histogram,
    commit: histogram,
  }),
});
export const driftSchema = z
  .object({ counter: z.int().nullable(), stock: z.int(), pending: z.int(), drift: z.int() })
  .nullable();
export const settledSchema = z.object({ kept: count, givenBack: count, pending: count, corrected: z.int() }).nullable();

export const healthSchema = z.object({ status: z.literal("ok"), node: z.string() });
export const readinessSchema = z.object({
  ready: z.boolean(),
  node: z.string(),
  strategy: z.string(),
  shuttingDown: z.boolean(),
  postgres: z.enum(["up", "down"]),
  away: z.array(z.string()),
});
export const loggedInSchema = z.object({ loggedIn: z.boolean() });
