import type { Command } from "commander";
import { print, writeOut } from "../shared/terminal";
import { DEFAULT_INSTANCE, instancePaths, upCommand } from "../supervisor/paths";
import { formatDown, formatUrls } from "../supervisor/print";
import { endedProcesses, readLiveState, readState, unsupervisedProcesses } from "../supervisor/state";

/** `npm run lab -- status`: exit 0 if the lab is up, 1 if it is not. */
export function addStatusCommand(program: Command): void {
  program
    .command("status")
    .description("print what runs, and where; exit 1 if the lab is down")
    .option("--instance <name>", "the instance", DEFAULT_INSTANCE)
    .option("--json", "print the state, as in .lab/<instance>/state.json")
    .action(({ instance, json }: { instance: string; json?: boolean }) => {
      const paths = instancePaths(instance);
      const state = readLiveState(paths);
      if (state?.status !== "ready") process.exitCode = 1;
      const unsupervised = state ? [] : unsupervisedProcesses(readState(paths));
      if (json) {
        const down = { instance, status: unsupervised.length > 0 ? "unsupervised" : "down", processes: unsupervised };
        print(JSON.stringify(state ?? down, null, 2));
        return;
      }
      if (!state) {
        print(formatDown(instance, unsupervised));
        return;
      }
      print(`${state.instance}: ${state.status}, supervisor ${state.supervisor.pid}, commit ${state.commit}`);
      if (state.status === "ready") writeOut(formatUrls(state));
      const ended = new Set(endedProcesses(state));
      for (const process of state.processes) {
        const { name, pid, restarts, logFile } = process;
        const place = ended.has(process) ? "not running" : String(pid).padStart(7);
        print(`  ${name.padEnd(12)} ${place}  ${restarts} restarts  ${logFile}`);
      }
      for (const { name, reason, logFile } of state.failed) {
        print(`  ${name.padEnd(12)} failed   ${reason} To start it now: \`${upCommand(instance)}\`. Log: ${logFile}`);
      }
      for (const [service, why] of Object.entries(state.missing)) print(`  ${service}: ${why}`);
    });
}
