import { setTimeout as delay } from "node:timers/promises";
import type { z } from "zod";
import type { ClientReport } from "../../lib/runs/client-report";
import { type RunDocument, runDocumentSchema } from "../../lib/runs/document";
import type { SweepDocument, SweepSummary } from "../../lib/runs/sweep";
import {
  breakLockAnswerSchema,
  type breakLockRequestSchema,
  type ReconcileAnswer,
  type ReconcileRequest,
  reconcileAnswerSchema,
} from "../../lib/shop/api";
import { retryDelayMs } from "../../load-tests/lib/retry.js";

/** Client of the lab's API, for the commands and the built-in generator. */
export interface LabAddress {
  readonly baseUrl: string;
  readonly adminToken?: string | undefined;
}

export interface LabStrategy {
  readonly id: string;
  readonly available: boolean;
  readonly unavailableReason: string | null;
}

export interface LabDescription {
  readonly strategies: readonly LabStrategy[];
  readonly engines: readonly { readonly id: string; readonly available: boolean; readonly reason: string | null }[];
  readonly nodes: readonly { readonly name: string; readonly url: string }[];
}

const CALL_TIMEOUT_MS = 30_000;
/** An export or a stop may check a long history first. */
const CHECK_TIMEOUT_MS = 120_000;

interface ApiErrorFields {
  readonly status: number;
  readonly code: string;
  /** The run that blocks the request, if the lab names one. */
  readonly runId?: string | null;
  /** The header of this name. */
  readonly retryAfter?: string | null;
}

/** The lab answered with an error. */
export class LabApiError extends Error {
  override readonly name = "LabApiError";
  readonly status: number;
  readonly code: string;
  readonly runId: string | null;
  readonly retryAfter: string | null;

  constructor({ status, code, runId = null, retryAfter = null }: ApiErrorFields, message: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.runId = runId;
    this.retryAfter = retryAfter;
  }
}

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly details?: { readonly runId?: unknown };
}

/** @throws {LabApiError} for an answer that is not 2xx; Error if the lab does not answer */
async function call(
  lab: LabAddress,
  path: string,
  { body, timeoutMs = CALL_TIMEOUT_MS }: { readonly body?: unknown; readonly timeoutMs?: number } = {},
): Promise<unknown> {
  const response = await labFetch(lab, path, {
    method: body === undefined ? "GET" : "POST",
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  throw apiErrorOf(response.status, text, response.headers.get("retry-after"));
}

export async function labFetch(lab: LabAddress, path: string, init: RequestInit): Promise<Response> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (lab.adminToken) headers.authorization = `Bearer ${lab.adminToken}`;
  try {
    return await fetch(`${lab.baseUrl}${path}`, { ...init, headers: { ...headers, ...init.headers } });
  } catch (error) {
    const { cause, message } = error as Error;
    throw new Error(
      `The lab at ${lab.baseUrl} does not answer (${cause instanceof Error ? cause.message : message}). Start it with npm start, or set --url.`,
    );
  }
}

/** Exported for its test: the answer may come from another program than the lab. */
export function apiErrorOf(status: number, text: string, retryAfter: string | null = null): LabApiError {
  try {
    const { error } = JSON.parse(text) as { error: ErrorBody };
    const runId = typeof error.details?.runId === "string" ? error.details.runId : null;
    return new LabApiError({ status, code: error.code, runId, retryAfter }, error.message);
  } catch {
    return new LabApiError(
      { status, code: "not_the_lab" },
      `Another program than the lab answered ${status}: ${text.slice(0, 200)}`,
    );
  }
}

export async function describeLab(lab: LabAddress): Promise<LabDescription> {
  return (await call(lab, "/api/strategies")) as LabDescription;
}

/** The URLs of the first `count` store nodes. */
export async function storeUrls(lab: LabAddress, count: number): Promise<string[]> {
  const { nodes } = await describeLab(lab);
  if (nodes.length === 0) throw new Error("The lab has no store nodes. Check STORE_NODES of the dashboard.");
  return nodes.slice(0, count).map((node) => node.url.replace(/\/+$/, ""));
}

/** A sweep; null if the lab has no run of it. */
export async function readSweep(lab: LabAddress, sweepId: string): Promise<SweepDocument | null> {
  try {
    return (await call(lab, `/api/sweeps/${encodeURIComponent(sweepId)}`)) as SweepDocument;
  } catch (error) {
    if (error instanceof LabApiError && error.status === 404) return null;
    throw error;
  }
}

/** Newest first. */
export async function listSweeps(lab: LabAddress): Promise<readonly SweepSummary[]> {
  return ((await call(lab, "/api/sweeps")) as { sweeps: SweepSummary[] }).sweeps;
}

/** An exported run with the file name that the lab suggests. @throws {LabApiError} */
export async function fetchExport(
  lab: LabAddress,
  runId: string,
  query: Readonly<Record<string, string>>,
): Promise<{ name: string; text: string }> {
  const path = `/api/runs/${encodeURIComponent(runId)}/export?${new URLSearchParams(query)}`;
  const response = await labFetch(lab, path, { signal: AbortSignal.timeout(CHECK_TIMEOUT_MS) });
  const text = await response.text();
  if (!response.ok) throw apiErrorOf(response.status, text);
  const [, name] = /filename="([^"/\\]+)"/.exec(response.headers.get("content-disposition") ?? "") ?? [];
  return { name: name ?? `run.${query.format}`, text };
}

/** Reconciles counters; an empty body: all counters that have a journal. */
export async function reconcileCounters(lab: LabAddress, request: ReconcileRequest): Promise<ReconcileAnswer> {
  return reconcileAnswerSchema.parse(await call(lab, "/api/stock/reconcile", { body: request }));
}

/** Deletes a lock whose holder will not release it. */
export async function breakLock(lab: LabAddress, request: z.infer<typeof breakLockRequestSchema>) {
  return breakLockAnswerSchema.parse(await call(lab, "/api/locks/break", { body: request }));
}

/** @param request a body of `POST /api/runs`; absent fields have the lab's defaults */
export async function openRun(lab: LabAddress, request: Readonly<Record<string, unknown>>): Promise<RunDocument> {
  return runDocumentSchema.parse(await call(lab, "/api/runs", { body: request }));
}

export async function readRun(lab: LabAddress, runId: string): Promise<RunDocument> {
  return runDocumentSchema.parse(await call(lab, `/api/runs/${encodeURIComponent(runId)}`));
}

/** The newest run; null if the lab has none. */
export async function newestRun(lab: LabAddress): Promise<RunDocument | null> {
  const { runs } = (await call(lab, "/api/runs?limit=1")) as { runs: unknown[] };
  return runs.length === 0 ? null : runDocumentSchema.parse(runs[0]);
}

/** Ends a run and its load early. A run that has ended does not change. */
export async function stopRun(lab: LabAddress, runId: string): Promise<RunDocument> {
  const path = `/api/runs/${encodeURIComponent(runId)}/stop`;
  return runDocumentSchema.parse(await call(lab, path, { body: {}, timeoutMs: CHECK_TIMEOUT_MS }));
}

/** Repeats the call while the lab asks to retry, for example during an outage of PostgreSQL. A repeated finish changes nothing. */
export async function finishRun(lab: LabAddress, runId: string, client: ClientReport): Promise<RunDocument> {
  const startedMs = performance.now();
  for (;;) {
    try {
      return await finishOnce(lab, runId, client);
    } catch (error) {
      if (!(error instanceof LabApiError)) throw error;
      const { status, retryAfter } = error;
      const delayMs = retryDelayMs({ status, retryAfter, elapsedMs: performance.now() - startedMs });
      if (delayMs === null) throw error;
      await delay(delayMs);
    }
  }
}

async function finishOnce(lab: LabAddress, runId: string, client: ClientReport): Promise<RunDocument> {
  return runDocumentSchema.parse(
    await call(lab, `/api/runs/${encodeURIComponent(runId)}/finish`, { body: { client } }),
  );
}
