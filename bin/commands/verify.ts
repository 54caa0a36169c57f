import type { Command } from "commander";
import { runTests } from "./test";

/** `npm run check`: the checks that need no servers. (`lab check` checks a recorded history.) */
export function addVerifyCommand(program: Command): void {
  program
    .command("verify")
    .description("format, lint, types and unit tests; needs no servers")
    .action(async () => {
      process.exitCode = await runTests({ stage: ["check", "unit"] });
    });
}
