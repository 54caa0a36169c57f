import type { RunDocument } from "../../lib/runs/document";
import { DEFAULT_INSTANCE, instancePaths } from "../supervisor/paths";
import { readLiveState } from "../supervisor/state";
import { followRun } from "./follow";
import { describeLab, type LabAddress, LabApiError, openRun } from "./lab-client";
import type { SaleFlags } from "./options";
import type { Progress } from "./progress";

/** The lab at `--url`, or else the lab of this checkout, which is started if it is down. */
export async function labOf(flags: Pick<SaleFlags, "url">): Promise<LabAddress> {
  const adminToken = process.env.LAB_ADMIN_TOKEN || undefined;
  if (flags.url) return { baseUrl: flags.url, adminToken };
  const { ensureLabIsUp } = await import("../commands/up");
  const { dashboardUrl } = await ensureLabIsUp();
  return { baseUrl: dashboardUrl.replace(/\/+$/, ""), adminToken };
}

/** The lab at `--url`, or else the lab of this checkout. @throws Error if that lab is down */
export function runningLabOf({ url }: { readonly url?: string | undefined }): LabAddress {
  const baseUrl = url ?? readLiveState(instancePaths(DEFAULT_INSTANCE))?.dashboardUrl;
  if (!baseUrl) throw new Error("The lab is down, so no run is in progress. To stop a run of another lab, set --url.");
  return { baseUrl, adminToken: process.env.LAB_ADMIN_TOKEN || undefined };
}

export interface Sale {
  /** Body of `POST /api/runs`, with `launch`. */
  readonly request: Readonly<Record<string, unknown>>;
  readonly progress: Progress;
}

/** Opens a run that the lab loads, and follows it until it ends. */
export async function executeRun(lab: LabAddress, { request, progress }: Sale): Promise<RunDocument> {
  return followToEnd(lab, await openRun(lab, request), progress);
}

/** Follows an open run until it ends. */
export async function followToEnd(lab: LabAddress, opened: RunDocument, progress: Progress): Promise<RunDocument> {
  const document = await followRun(lab, opened, (sample) => progress.sample(sample));
  progress.end(oneLine(document));
  return document;
}

/** Why the lab uses another engine than the requested one; null if it does not. */
export async function engineNote(lab: LabAddress, wanted: string): Promise<string | null> {
  const { engines } = await describeLab(lab);
  const engine = engines.find(({ id }) => id === wanted);
  if (!engine || engine.available) return null;
  return `${wanted} is not available, so the built-in generator sends the load. Reason: ${engine.reason}`;
}

/** `safe: 100 units ordered from a stock of 100, 0 oversold` */
export function oneLine(document: RunDocument): string {
  const { verdict, status, stock, violations, sentences } = document;
  if (status === "failed") return `failed: ${sentences[0] ?? "no reason given"}`;
  const lost = violations.lostUpdates > 0 ? `, ${violations.lostUpdates} updates lost` : "";
  return `${verdict}: ${stock.orders} units ordered from a stock of ${stock.initial}, ${violations.oversold} oversold${lost}`;
}

/** Why a run could not be made and what to do, for the terminal. */
export function explainFailure(error: unknown): string {
  if (!(error instanceof LabApiError)) return error instanceof Error ? error.message : String(error);
  if (error.code === "run_active")
    return `${error.message} The lab makes one run at a time: wait until it ends, then try again.`;
  if (error.code === "admin_token_required") return `${error.message} Set LAB_ADMIN_TOKEN to the lab's admin token.`;
  return error.message;
}
