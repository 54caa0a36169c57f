import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { isSameProcess } from "../../../bin/shared/process-identity.mjs";
import { instancePaths, ROOT } from "../../../bin/supervisor/paths";
import { type LabState, readState } from "../../../bin/supervisor/state";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const LIMIT_MS = 90_000;

export interface LabUser {
  readonly uid?: number;
  readonly gid?: number;
  /** A program with arguments that starts the lab command. */
  readonly through?: readonly string[];
}

/** Runs `npm run lab -- …` as a user does. Removes this process's server URLs from the environment, so that it starts servers. */
export function lab(
  args: readonly string[],
  env: Record<string, string> = {},
  { through = [], ...user }: LabUser = {},
): Promise<Ended> {
  const inherited: Record<string, string | undefined> = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(.*_URLS?|ZOOKEEPER_HOSTS|NODE_TEST_CONTEXT|LAB_.*)$/.test(name)),
  );
  const childEnv: Record<string, string | undefined> = { ...inherited, LAB_INSTALL: "never", ...env };
  const [program = process.execPath, ...rest] = [
    ...through,
    process.execPath,
    path.join(ROOT, "bin", "bootstrap.mjs"),
    ...args,
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, {
      ...user,
      cwd: ROOT,
      env: childEnv as NodeJS.ProcessEnv,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: LIMIT_MS,
      killSignal: "SIGTERM",
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk;
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}

export const outputOf = ({ code, stdout, stderr }: Ended) => `exit code ${code}\n${stdout}\n${stderr}`;

export function stateOf(instance: string): LabState {
  const state = readState(instancePaths(instance));
  if (!state) throw new Error(`the instance ${instance} has no state`);
  return state;
}

/** Names of the lab's processes that are alive, including the supervisor. */
export function aliveOf(state: LabState): string[] {
  const all = [{ name: "supervisor", ...state.supervisor }, ...state.processes];
  return all.filter((entry) => isSameProcess(entry)).map(({ name }) => name);
}

export function supervisorLog(instance: string): string {
  return readFileSync(path.join(instancePaths(instance).logsDir, "supervisor.log"), "utf8");
}
