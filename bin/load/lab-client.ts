import { type ClientReport, type RunDocument, runDocumentSchema } from "../../lib/runs/document";

/** The generator's side of the lab's API. */
export interface LabAddress {
  readonly baseUrl: string;
  readonly adminToken: string | undefined;
}

const CALL_TIMEOUT_MS = 30_000;

async function call(lab: LabAddress, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${lab.baseUrl}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      "content-type": "application/json",
      ...(lab.adminToken ? { authorization: `Bearer ${lab.adminToken}` } : {}),
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  });
  const answer: unknown = await response.json();
  if (response.ok) return answer;
  const { error } = answer as { error?: { code?: string; message?: string } };
  throw new Error(`${path} answered ${response.status} ${error?.code ?? ""}: ${error?.message ?? "no reason given"}`);
}

export async function readRun(lab: LabAddress, runId: string): Promise<RunDocument> {
  return runDocumentSchema.parse(await call(lab, `/api/runs/${encodeURIComponent(runId)}`));
}

/** The URLs of the first `count` store nodes. */
export async function storeUrls(lab: LabAddress, count: number): Promise<string[]> {
  const { nodes } = (await call(lab, "/api/strategies")) as { nodes: { name: string; url: string }[] };
  if (nodes.length === 0) throw new Error("/api/strategies names no store nodes");
  return nodes.slice(0, count).map((node) => node.url.replace(/\/+$/, ""));
}

export async function finishRun(lab: LabAddress, runId: string, client: ClientReport): Promise<RunDocument> {
  return runDocumentSchema.parse(await call(lab, `/api/runs/${encodeURIComponent(runId)}/finish`, { client }));
}
