import { InvalidArgumentError } from "commander";
import { FAULT_IDS } from "../../lib/faults/registry";
import { type FaultRequest, faultRequestSchema, MOST_FAULTS } from "../../lib/faults/request";

/** How a fault is written on the command line. */
export const FAULT_SYNTAX = "id[@atMs][+durationMs]";

const SYNTAX = /^([a-z0-9-]+)(?:@(\d+))?(?:\+(\d+))?$/;

/** Adds one `--fault` to those before. @throws InvalidArgumentError that names what would be valid */
export function addFault(text: string, before: readonly FaultRequest[]): readonly FaultRequest[] {
  if (before.length === MOST_FAULTS) throw new InvalidArgumentError(`No more than ${MOST_FAULTS} a run.`);
  return [...before, parseFault(text)];
}

function parseFault(text: string): FaultRequest {
  const [, id, atMs, durationMs] = SYNTAX.exec(text) ?? [];
  const result = faultRequestSchema.safeParse({
    id,
    ...(atMs === undefined ? {} : { atMs: Number(atMs) }),
    ...(durationMs === undefined ? {} : { durationMs: Number(durationMs) }),
  });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const [field] = issue?.path ?? [];
  if (field === "id" || issue === undefined) {
    throw new InvalidArgumentError(`It must be ${FAULT_SYNTAX}, with one of ${FAULT_IDS.join(", ")}.`);
  }
  throw new InvalidArgumentError(`${String(field)}: ${issue.message}.`);
}
