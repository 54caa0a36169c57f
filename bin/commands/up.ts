import { type Command, InvalidArgumentError } from "commander";
import { print, printError, writeOut } from "../shared/terminal";
import { adviseOnWrite } from "../shared/write-advice.mjs";
import { ensureUp, startDetached, waitUntilReady } from "../supervisor/client";
import { REVIVE_SIGNAL, runInForeground } from "../supervisor/foreground";
import { AlreadyUpError } from "../supervisor/lab";
import { DEFAULT_INSTANCE, downCommand, instancePaths } from "../supervisor/paths";
import { formatUrls } from "../supervisor/print";
import { type LabState, readLiveState } from "../supervisor/state";
import { waitFor } from "../supervisor/wait-for";

interface UpFlags {
  readonly detach?: boolean;
  readonly instance: string;
  readonly portBase?: number;
  readonly serversOnly?: boolean;
  readonly install: boolean;
}

const HIGHEST_BASE = 32_600;
const REVIVE_TIMEOUT_MS = 30_000;

/** `npm start`: servers, migrations, build, dashboard and three store nodes. */
export function addUpCommand(program: Command): void {
  program
    .command("up")
    .description("start the lab: servers, migrations, build, dashboard and three store nodes")
    .option("-d, --detach", "return when it is ready; stop it with `npm run lab -- down`")
    .option("--servers-only", "start PostgreSQL, Redis and the other servers, without the shop")
    .option("--port-base <port>", "use the block of 100 ports that starts here", parsePortBase)
    .option("--instance <name>", "a separate lab with its own state, data and logs", DEFAULT_INSTANCE)
    .option("--no-install", "do not install system packages, even if that is possible")
    .action(async (flags: UpFlags) => {
      process.exitCode = await up(flags);
    });
}

async function up(flags: UpFlags): Promise<number> {
  if (!flags.install) process.env.LAB_INSTALL = "never";
  const paths = instancePaths(flags.instance);
  try {
    const live = readLiveState(paths);
    if (live) throw new AlreadyUpError(live);
    if (flags.detach) {
      const state = await startDetached({ paths, args: argsOf(flags), out: process.stdout });
      print(`${formatUrls(state)}Stop it with \`${downCommand(flags.instance)}\`.`);
      return 0;
    }
    const { portBase, serversOnly = false } = flags;
    return await runInForeground({ paths, portBase, serversOnly, out: process.stdout });
  } catch (error) {
    if (error instanceof AlreadyUpError) return sayAlreadyUp(error);
    printError(adviseOnWrite(error) ?? (error instanceof Error ? error.message : String(error)));
    return 1;
  }
}

async function sayAlreadyUp(error: AlreadyUpError): Promise<number> {
  const isStarting = error.state.status === "starting";
  print(isStarting ? `${error.message} and still starting; waiting for it.` : error.message);
  const state = isStarting ? await waitUntilReady(instancePaths(error.state.instance)) : error.state;
  if (state.failed.length > 0) return reviveFailed(state);
  writeOut(formatUrls(state));
  return 0;
}

/** @returns 1 if a process still fails */
async function reviveFailed({ supervisor, instance, failed }: LabState): Promise<number> {
  const names = failed.map(({ name }) => name).join(", ");
  print(`Starting failed processes again: ${names}`);
  process.kill(supervisor.pid, REVIVE_SIGNAL);
  const paths = instancePaths(instance);
  const isRevived = () => readLiveState(paths)?.failed.length === 0;
  try {
    await waitFor(isRevived, { what: `${names} to run again`, timeoutMs: REVIVE_TIMEOUT_MS });
  } catch (error) {
    printError(error instanceof Error ? error.message : String(error));
    for (const { name, reason, logFile } of readLiveState(paths)?.failed ?? [])
      printError(`${name}: ${reason} Log: ${logFile}`);
    return 1;
  }
  print(`Running again: ${names}`);
  return 0;
}

function argsOf(flags: UpFlags): string[] {
  const args = flags.portBase === undefined ? [] : ["--port-base", String(flags.portBase)];
  if (flags.serversOnly) args.push("--servers-only");
  if (!flags.install) args.push("--no-install");
  return args;
}

export function parsePortBase(text: string): number {
  const base = Number(text);
  if (Number.isInteger(base) && base >= 1_024 && base <= HIGHEST_BASE) return base;
  throw new InvalidArgumentError(`Use a whole number from 1024 to ${HIGHEST_BASE}.`);
}

export interface RunningLab extends LabState {
  readonly dashboardUrl: string;
}

/** The lab of this checkout, started in the background if it is down. Prints the steps to standard error. */
export async function ensureLabIsUp(instance: string = DEFAULT_INSTANCE): Promise<RunningLab> {
  const state = await ensureUp({ paths: instancePaths(instance), args: [], out: process.stderr });
  if (state.dashboardUrl === null) {
    throw new Error(
      `The lab runs with --servers-only, so it has no shop. Run "${downCommand(instance)}", then "npm start".`,
    );
  }
  return { ...state, dashboardUrl: state.dashboardUrl };
}
