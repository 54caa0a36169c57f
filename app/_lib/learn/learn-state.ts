import type { RunDocument } from "@/lib/runs/document";
import type { RunRequest } from "@/lib/runs/run-request";
import { type ChapterStep, OUTCOMES, type Outcome } from "./chapter";

/** Where a reader is in a chapter. The address has all of it, so that a link shows the same run with the same prediction. */
export interface LearnAddress {
  /** From 1, like the step. */
  readonly chapter: number;
  readonly step: number;
  /** The prediction; null: none yet. */
  readonly answer: Outcome | null;
  /** Id of the run that shows the result; null: none yet. */
  readonly run: string | null;
}

type Query = Readonly<Record<string, string | string[] | undefined>>;

/** A value that the chapter does not have counts as absent. */
export function readAddress(chapter: number, steps: readonly ChapterStep[], query: Query): LearnAddress {
  const step = Number(query.step);
  return {
    chapter,
    step: Number.isInteger(step) && step >= 1 && step <= steps.length ? step : 1,
    answer: OUTCOMES.find((outcome) => outcome === query.answer) ?? null,
    run: typeof query.run === "string" && query.run !== "" ? query.run : null,
  };
}

export function hrefOf({ chapter, step = 1, answer = null, run = null }: Partial<LearnAddress>): string {
  const query = new URLSearchParams({
    ...(step === 1 ? {} : { step: String(step) }),
    ...(answer === null ? {} : { answer }),
    ...(run === null ? {} : { run }),
  }).toString();
  return `/learn/${chapter}${query === "" ? "" : `?${query}`}`;
}

/** The body of `POST /api/runs` for a run of the fault matrix. */
export type PresetRequest = Pick<
  RunRequest,
  "strategy" | "stock" | "holdMs" | "ttlMs" | "waitTimeoutMs" | "faults" | "seed"
> &
  Partial<Pick<RunRequest, "vus" | "rate" | "durationMs">>;

export type LearnPhase = "predict" | "run" | "running" | "revealed";

export interface LearnState {
  readonly phase: LearnPhase;
  /** The run to follow or to explain; null before it. */
  readonly document: RunDocument | null;
  /** Why the run of the address is not shown; null if it is, or if there is none. */
  readonly problem: string | null;
}

/**
 * @param document the run of the address; null if this lab has no such run
 * @param requests the runs that show the chapter's result
 */
export function stateOf(
  { answer, run }: LearnAddress,
  document: RunDocument | null,
  requests: readonly PresetRequest[],
): LearnState {
  const before = answer === null ? "predict" : "run";
  if (run === null) return { phase: before, document: null, problem: null };
  if (document === null) {
    return { phase: before, document: null, problem: `This lab has no run ${run}. It may have been deleted.` };
  }
  if (!requests.some((request) => isRunOf(request, document))) {
    const problem = `The run ${run} is not a run of this chapter, because it has another strategy or fault.`;
    return { phase: before, document: null, problem };
  }
  return { phase: document.status === "running" ? "running" : "revealed", document, problem: null };
}

/**
 * Whether a run shows what the preset shows: the same strategy with the same faults on more than one node. Its sale may differ,
 * because the settings of the matrix change and an address that was shared must stay valid.
 */
export function isRunOf(
  { strategy, faults = [] }: Pick<PresetRequest, "strategy" | "faults">,
  run: Pick<RunDocument, "strategy" | "config">,
): boolean {
  const { nodes, fencing, faults: own = [] } = run.config;
  const ids = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id).join();
  return strategy === run.strategy && ids(faults) === ids(own) && nodes > 1 && fencing !== false;
}
