import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { GENERATED_PAGES, generatePage } from "../docs/generated-pages";
import { print } from "../shared/terminal";
import { ROOT } from "../supervisor/paths";

/** `npm run lab -- docs`: writes the generated parts of README and docs from the code. The unit tests compare them. */
export function addDocsCommand(program: Command): void {
  program
    .command("docs")
    .description("write the tables of strategies and faults in README and docs from the code")
    .action(async () => {
      for (const page of GENERATED_PAGES) {
        const path = join(ROOT, page);
        const text = await readFile(path, "utf8");
        const generated = generatePage(page, text);
        if (generated !== text) await writeFile(path, generated);
        print(`${generated === text ? "unchanged" : "written  "} ${page}`);
      }
    });
}
