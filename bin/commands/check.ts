import type { Command } from "commander";
import { runTests } from "./test";

/** `npm run check`: what needs no servers. */
export function addCheckCommand(program: Command): void {
  program
    .command("check")
    .description("format, lint, types and unit tests; needs no servers")
    .action(async () => {
      process.exitCode = await runTests({ stage: ["check", "unit"] });
    });
}
