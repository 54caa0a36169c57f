import type { Command } from "commander";
import { generate } from "../shared/ensure-packages.mjs";
import { print } from "../shared/terminal";
import { ROOT } from "../supervisor/paths";

/** `npm run generate`: generates the Prisma client into generated/. Every other command does so if the client is stale. */
export function addGenerateCommand(program: Command): void {
  program
    .command("generate")
    .description("generate the Prisma client from prisma/schema.prisma")
    .action(async () => {
      await generate(ROOT);
      print("generated/prisma matches prisma/schema.prisma.");
    });
}
