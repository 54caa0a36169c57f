import type { RunDocument } from "./document";
import type { RunRequest } from "./run-request";

/** A request for the lab to load itself. What a sweep was is not repeated: that run is done. */
export type LaunchedRequest = Omit<RunRequest, "vus" | "rate" | "durationMs" | "sweep" | "engine"> &
  Partial<Pick<RunRequest, "vus" | "rate" | "durationMs" | "sweep">> & { readonly engine: "k6" | "builtin" };

/** The request that makes a run a second time, its seed included. */
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
    // A load from outside cannot be asked to come again; k6 sends the like of it.
    engine: config.engine.startsWith("builtin") ? "builtin" : "k6",
    seed: config.seed,
    launch: true,
  };
}
