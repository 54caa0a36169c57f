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

/** The lab's API, as the commands and the built-in generator use it. */
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
/** Judging a long history again takes its time. */
const EXPORT_TIMEOUT_MS = 120_000;

interface Refusal {
  readonly status: number;
  readonly code: string;
  /** The run that is in the way, where the lab names one. */
  readonly runId?: string | null;
}

/** The lab answered, and said no. */
export class LabRefusal extends Error {
  override readonly name = "LabRefusal";
  readonly status: number;
  readonly code: string;
  readonly runId: string | null;

  constructor({ status, code, runId = null }: Refusal, message: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.runId = runId;
  }
}

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly details?: { readonly runId?: unknown };
}

/** @throws {LabRefusal} for an answer that is not 2xx; Error when the lab does not answer */
async function call(lab: LabAddress, path: string, body?: unknown): Promise<unknown> {
  const response = await labFetch(lab, path, {
    method: body === undefined ? "GET" : "POST",
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  throw refusalOf(response.status, text);
}

export async function labFetch(lab: LabAddress, path: string, init: RequestInit): Promise<Response> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (lab.adminToken) headers.authorization = `Bearer ${lab.adminToken}`;
  try {
    return await fetch(`${lab.baseUrl}${path}`, { ...init, headers: { ...headers, ...init.headers } });
  } catch (error) {
    const { cause, message } = error as Error;
    throw new Error(`${lab.baseUrl} does not answer: ${cause instanceof Error ? cause.message : message}`);
  }
}

/** Exported for its test: an answer may come from something else than the lab. */
export function refusalOf(status: number, text: string): LabRefusal {
  try {
    const { error } = JSON.parse(text) as { error: ErrorBody };
    const runId = typeof error.details?.runId === "string" ? error.details.runId : null;
    return new LabRefusal({ status, code: error.code, runId }, error.message);
  } catch {
    return new LabRefusal({ status, code: "not_the_lab" }, `answered ${status}: ${text.slice(0, 200)}`);
  }
}

export async function describeLab(lab: LabAddress): Promise<LabDescription> {
  return (await call(lab, "/api/strategies")) as LabDescription;
}

/** The URLs of the first `count` store nodes. */
export async function storeUrls(lab: LabAddress, count: number): Promise<string[]> {
  const { nodes } = await describeLab(lab);
  if (nodes.length === 0) throw new Error("/api/strategies names no store nodes");
  return nodes.slice(0, count).map((node) => node.url.replace(/\/+$/, ""));
}

/** A sweep as its runs tell it; null when the lab has no run of it. */
export async function readSweep(lab: LabAddress, sweepId: string): Promise<SweepDocument | null> {
  try {
    return (await call(lab, `/api/sweeps/${encodeURIComponent(sweepId)}`)) as SweepDocument;
  } catch (error) {
    if (error instanceof LabRefusal && error.status === 404) return null;
    throw error;
  }
}

/** The newest first. */
export async function listSweeps(lab: LabAddress): Promise<readonly SweepSummary[]> {
  return ((await call(lab, "/api/sweeps")) as { sweeps: SweepSummary[] }).sweeps;
}

/** A run as a file, with the name the lab gives it. @throws {LabRefusal} */
export async function fetchExport(
  lab: LabAddress,
  runId: string,
  query: Readonly<Record<string, string>>,
): Promise<{ name: string; text: string }> {
  const path = `/api/runs/${encodeURIComponent(runId)}/export?${new URLSearchParams(query)}`;
  const response = await labFetch(lab, path, { signal: AbortSignal.timeout(EXPORT_TIMEOUT_MS) });
  const text = await response.text();
  if (!response.ok) throw refusalOf(response.status, text);
  const [, name] = /filename="([^"/\\]+)"/.exec(response.headers.get("content-disposition") ?? "") ?? [];
  return { name: name ?? `run.${query.format}`, text };
}

/** Settles counters; an empty body: all that have a journal. */
export async function reconcileCounters(lab: LabAddress, request: ReconcileRequest): Promise<ReconcileAnswer> {
  return reconcileAnswerSchema.parse(await call(lab, "/api/stock/reconcile", request));
}

/** Deletes a lock that nobody would ever free. */
export async function breakLock(lab: LabAddress, request: z.infer<typeof breakLockRequestSchema>) {
  return breakLockAnswerSchema.parse(await call(lab, "/api/locks/break", request));
}

/** @param request a body of `POST /api/runs`; what is absent takes the lab's default */
export async function openRun(lab: LabAddress, request: Readonly<Record<string, unknown>>): Promise<RunDocument> {
  return runDocumentSchema.parse(await call(lab, "/api/runs", request));
}

export async function readRun(lab: LabAddress, runId: string): Promise<RunDocument> {
  return runDocumentSchema.parse(await call(lab, `/api/runs/${encodeURIComponent(runId)}`));
}

export async function finishRun(lab: LabAddress, runId: string, client: ClientReport): Promise<RunDocument> {
  return runDocumentSchema.parse(await call(lab, `/api/runs/${encodeURIComponent(runId)}/finish`, { client }));
}
