import type { Command } from "commander";
import { cachedK6 } from "../k6/find";
import { wantedPort } from "../provision/ports";
import { printError } from "../shared/terminal";
import { runInForeground } from "../supervisor/foreground";
import { AlreadyUpError, type Lab } from "../supervisor/lab";
import { downCommand, instancePaths } from "../supervisor/paths";
import { runChild } from "../supervisor/run-child";
import { storeNodeEnv } from "../supervisor/store-nodes";

const A_WORKING_DAY_MS = 12 * 3_600_000;
/** Not the ports of `npm start`, so that both can run at the same time. */
const PORT_BASE = 23_000;

/** `npm run dev`: the servers and one node in development mode. */
export function addDevCommand(program: Command): void {
  program
    .command("dev")
    .description("start the servers and one node in development mode, with hot reload")
    .action(async () => {
      try {
        process.exitCode = await runInForeground({
          paths: instancePaths("dev"),
          portBase: PORT_BASE,
          serversOnly: true,
          out: process.stdout,
          whenReady: runDevServer,
        });
      } catch (error) {
        if (!(error instanceof AlreadyUpError)) throw error;
        printError(`${error.message}. Stop it first: ${downCommand("dev")}`);
        process.exitCode = 1;
      }
    });
}

/**
 * server.ts with Next in development mode. `next dev` would lack the control routes, which server.ts serves. Pages reload
 * on a change; server.ts and the parts of lib/ that it imports do not.
 */
async function runDevServer(lab: Lab, signal: AbortSignal): Promise<void> {
  const port = wantedPort("dashboard", { env: process.env });
  const context = { state: lab.state, distDir: ".next", k6Binary: cachedK6() };
  await runChild({
    command: process.execPath,
    args: ["--import", "tsx", "server.ts"],
    env: { ...storeNodeEnv(context, { name: "node-1", port }), NODE_ENV: "development" },
    limitMs: A_WORKING_DAY_MS,
    signal,
  });
}
