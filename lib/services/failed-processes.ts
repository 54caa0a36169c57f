import { readFileSync } from "node:fs";
import { z } from "zod";

/** A process that the lab's supervisor could not keep running. */
export interface FailedProcess {
  readonly name: string;
  /** What happened, and the command that starts it. */
  readonly reason: string;
}

/** The part of the supervisor's state file that other processes read. */
const stateSchema = z.looseObject({
  instance: z.string(),
  failed: z.array(z.looseObject({ name: z.string(), reason: z.string(), logFile: z.string() })).default([]),
});

/** From the file that the supervisor names in `LAB_STATE_FILE`. Empty without a supervisor, such as in containers. */
export function failedProcesses(): readonly FailedProcess[] {
  const file = process.env.LAB_STATE_FILE;
  if (file === undefined) return [];
  try {
    const { instance, failed } = stateSchema.parse(JSON.parse(readFileSync(file, "utf8")));
    const command = instance === "main" ? "npm start" : `npm run lab -- up --instance ${instance}`;
    return failed.map(({ name, reason, logFile }) => ({
      name,
      reason: `${reason} To start it now, run "${command}". Its log: ${logFile}`,
    }));
  } catch {
    return []; // The lab has been stopped, or its state has another version.
  }
}
