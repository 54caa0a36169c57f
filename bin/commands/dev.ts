import path from "node:path";
import type { Command } from "commander";
import { cachedK6 } from "../k6/find";
import { wantedPort } from "../provision/ports";
import { runInForeground } from "../supervisor/foreground";
import { AlreadyUpError, type Lab } from "../supervisor/lab";
import { instancePaths } from "../supervisor/paths";
import { runChild } from "../supervisor/run-child";
import { storeNodeEnv } from "../supervisor/store-nodes";

const A_WORKING_DAY_MS = 12 * 3_600_000;
/** Away from `npm start`, beside which it may run. */
const PORT_BASE = 23_000;

/** `npm run dev`: the servers, and `next dev` as the only node, which reloads as you type. */
export function addDevCommand(program: Command): void {
  program
    .command("dev")
    .description("start the servers and `next dev`, one node that reloads as you type")
    .action(async () => {
      try {
        process.exitCode = await runInForeground({
          paths: instancePaths("dev"),
          portBase: PORT_BASE,
          serversOnly: true,
          out: process.stdout,
          whenReady: runNextDev,
        });
      } catch (error) {
        if (!(error instanceof AlreadyUpError)) throw error;
        console.error(`${error.message}; stop it first: npm run lab -- down --instance dev`);
        process.exitCode = 1;
      }
    });
}

/** The hot routes are reached through Next's handlers here: one process serves the shop and its sales. */
async function runNextDev(lab: Lab, signal: AbortSignal): Promise<void> {
  const port = wantedPort("dashboard", { env: process.env });
  const context = { state: lab.state, distDir: ".next", k6Binary: cachedK6() };
  const next = path.join("node_modules", "next", "dist", "bin", "next");
  await runChild({
    command: process.execPath,
    args: [next, "dev", "--hostname", "127.0.0.1", "--port", String(port)],
    env: { ...storeNodeEnv(context, { name: "node-1", port }), NODE_ENV: "development" },
    limitMs: A_WORKING_DAY_MS,
    signal,
  });
}
