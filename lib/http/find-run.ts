import type { RunDocument } from "../runs/document";
import { readRun } from "../runs/queries";
import { HttpError, notFound } from "./errors";

/** @throws HttpError `not_found` */
export async function findRun(id: string): Promise<RunDocument> {
  const document = await readRun(id);
  if (document === null) throw notFound(`run ${id}`);
  return document;
}

/** Finds a run whose history is complete. @throws HttpError `not_found`, `run_running` */
export async function findEndedRun(id: string): Promise<RunDocument> {
  const document = await findRun(id);
  if (document.status === "running") throw new HttpError({ code: "run_running" });
  return document;
}
