import type { Command } from "commander";
import { generate } from "../shared/ensure-packages.mjs";
import { ROOT } from "../supervisor/paths";

/** `npm run generate`: the Prisma client, from prisma/schema.prisma into generated/. Every command does it when it is due. */
export function addGenerateCommand(program: Command): void {
  program
    .command("generate")
    .description("generate the Prisma client from prisma/schema.prisma")
    .action(async () => {
      await generate(ROOT);
      console.log("generated/prisma is up to date with prisma/schema.prisma");
    });
}
