import path from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the checkout. */
export const ROOT = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));

/** The instance of `npm start`; `npm test` uses another, so that both can run at the same time. */
export const DEFAULT_INSTANCE = "main";

/** The command that stops an instance. */
export function downCommand(instance: string): string {
  return `npm run lab -- down${instance === DEFAULT_INSTANCE ? "" : ` --instance ${instance}`}`;
}

/** The command that starts an instance, and the failed processes of a running one. */
export function upCommand(instance: string): string {
  return instance === DEFAULT_INSTANCE ? "npm start" : `npm run lab -- up --instance ${instance}`;
}

export interface InstancePaths {
  readonly instance: string;
  readonly dir: string;
  readonly stateFile: string;
  readonly lockFile: string;
  /** Where the supervisor takes requests for topologies. */
  readonly controlFile: string;
  readonly logsDir: string;
  readonly dataDir: string;
}

/** Where an instance keeps its state, logs and data. */
export function instancePaths(instance: string, root: string = ROOT): InstancePaths {
  if (!/^[a-z0-9][a-z0-9-]{0,40}$/.test(instance)) {
    throw new Error(`"${instance}" is not an instance name: use at most 41 lower-case letters, digits and hyphens.`);
  }
  const dir = path.join(root, ".lab", instance);
  return {
    instance,
    dir,
    stateFile: path.join(dir, "state.json"),
    lockFile: path.join(dir, "start.lock"),
    controlFile: path.join(dir, "control.sock"),
    logsDir: path.join(dir, "logs"),
    dataDir: path.join(dir, "data"),
  };
}
