import type { RunDocument } from "../runs/document";
import { readRun } from "../runs/queries";
import { notFound } from "./errors";

/** @throws HttpError 404 */
export async function requireRun(id: string): Promise<RunDocument> {
  return (await readRun(id)) ?? unknownRun(id);
}

function unknownRun(id: string): never {
  throw notFound(`run ${id.slice(0, 64)}`);
}
