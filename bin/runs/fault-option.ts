import { InvalidArgumentError } from "commander";
import { FAULT_IDS } from "../../lib/faults/ids";
import { FAULT_NOTATION, readFault } from "../../lib/faults/notation";
import { type FaultRequest, faultRequestSchema, MOST_FAULTS } from "../../lib/faults/request";

/** Adds one `--fault` to those before. @throws InvalidArgumentError that names what would be valid */
export function addFault(text: string, before: readonly FaultRequest[]): readonly FaultRequest[] {
  if (before.length === MOST_FAULTS) throw new InvalidArgumentError(`No more than ${MOST_FAULTS} a run.`);
  return [...before, parseFault(text)];
}

function parseFault(text: string): FaultRequest {
  const fault = readFault(text);
  if (!fault) throw new InvalidArgumentError(`It must be ${FAULT_NOTATION}, with one of ${FAULT_IDS.join(", ")}.`);
  const { success, error } = faultRequestSchema.safeParse(fault);
  if (success) return fault;
  const [issue] = error.issues;
  throw new InvalidArgumentError(`${issue?.path.join(".")}: ${issue?.message}.`);
}
