import type { RunDocument } from "./document";
import type { RunRequest } from "./run-request";

/** A run that the lab loads itself. It does not belong to the original run's sweep. */
export type LaunchedRequest = Omit<RunRequest, "vus" | "rate" | "durationMs" | "sweep" | "engine"> &
  Partial<Pick<RunRequest, "vus" | "rate" | "durationMs" | "sweep">> & { readonly engine: "k6" | "builtin" };

/** The request that repeats a run with the same settings and seed. */
export function rerunRequest({
  strategy,
  target,
  config,
}: Pick<RunDocument, "strategy" | "target" | "config">): LaunchedRequest {
  const load =
    config.rate === null
      ? { vus: config.vus ?? 500 }
      : { rate: config.rate, ...(config.durationMs === null ? {} : { durationMs: config.durationMs }) };
  return {
    strategy,
    target: { kind: target.kind, ...(config.targetId === undefined ? {} : { id: config.targetId }) },
    stock: config.stock,
    holdMs: config.holdMs,
    ttlMs: config.ttlMs,
    waitTimeoutMs: config.waitTimeoutMs,
    ...(config.fencing === undefined ? {} : { fencing: config.fencing }),
    ...(config.faults === undefined ? {} : { faults: config.faults }),
    nodes: config.nodes,
    ...load,
    // The lab cannot repeat the load of an external generator; k6 sends a similar load.
    engine: config.engine.startsWith("builtin") ? "builtin" : "k6",
    seed: config.seed,
    launch: true,
  };
}
