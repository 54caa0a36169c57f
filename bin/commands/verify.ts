import type { Command } from "commander";
import { runTests } from "./test";

/** `npm run check`: what needs no servers. (`lab check` judges a recorded history.) */
export function addVerifyCommand(program: Command): void {
  program
    .command("verify")
    .description("format, lint, types and unit tests; needs no servers")
    .action(async () => {
      process.exitCode = await runTests({ stage: ["check", "unit"] });
    });
}
