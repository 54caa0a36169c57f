import type { RunDocument } from "../runs/document";
import { HttpError } from "./errors";
import { requireRun } from "./require-run";

/** A run whose history is whole. @throws HttpError 404, 409 */
export async function requireEndedRun(id: string): Promise<RunDocument> {
  const document = await requireRun(id);
  if (document.status !== "running") return document;
  throw new HttpError({
    status: 409,
    code: "run_running",
    message: "The history is complete when the run has ended.",
  });
}
