import { mkdirSync } from "node:fs";
import type { Command } from "commander";
import { buildIfStale } from "../build/build";
import { print } from "../shared/terminal";
import { DEFAULT_INSTANCE, instancePaths } from "../supervisor/paths";

/** `npm run lab -- build`: the build step of `npm start`, and of the container image. */
export function addBuildCommand(program: Command): void {
  program
    .command("build")
    .description("build the pages and bundle the server, if their sources changed")
    .action(async () => {
      const paths = instancePaths(DEFAULT_INSTANCE);
      mkdirSync(paths.logsDir, { recursive: true });
      const { distDir, detail } = await buildIfStale(paths);
      print(`${distDir}: ${detail}`);
    });
}
