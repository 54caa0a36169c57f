import type { Command } from "commander";
import { print } from "../shared/terminal";
import { stopLab } from "../supervisor/client";
import { DEFAULT_INSTANCE, instancePaths } from "../supervisor/paths";

/** `npm run lab -- down`: stops what `npm start` started, and nothing else. */
export function addDownCommand(program: Command): void {
  program
    .command("down")
    .description("stop the lab, and processes that a crashed lab left running")
    .option("--instance <name>", "the instance to stop", DEFAULT_INSTANCE)
    .action(async ({ instance }: { instance: string }) => {
      print(await stopLab(instancePaths(instance)));
    });
}
