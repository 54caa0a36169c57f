import { InvalidArgumentError } from "commander";
import { FAULT_SYNTAX, parseFault } from "../../lib/faults/fault-text";
import { FAULT_IDS } from "../../lib/faults/ids";
import { type FaultRequest, faultRequestSchema, MAX_FAULTS_PER_RUN } from "../../lib/faults/request";

/** Parser of `--fault`, which can be repeated. @throws InvalidArgumentError that says what is valid */
export function addFault(text: string, before: readonly FaultRequest[]): readonly FaultRequest[] {
  if (before.length === MAX_FAULTS_PER_RUN)
    throw new InvalidArgumentError(`A run takes at most ${MAX_FAULTS_PER_RUN} faults.`);
  return [...before, validFault(text)];
}

function validFault(text: string): FaultRequest {
  const fault = parseFault(text);
  if (!fault)
    throw new InvalidArgumentError(
      `It must have the form ${FAULT_SYNTAX}, where id is one of ${FAULT_IDS.join(", ")}.`,
    );
  const { success, error } = faultRequestSchema.safeParse(fault);
  if (success) return fault;
  const [issue] = error.issues;
  throw new InvalidArgumentError(`${issue?.path.join(".")}: ${issue?.message}.`);
}
