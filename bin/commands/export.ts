import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type Command, Option } from "commander";
import { explainFailure, labOf } from "../runs/execute";
import { fetchExport } from "../runs/lab-client";
import { labUrl } from "../runs/options";
import { printError, printFile } from "../shared/terminal";

interface ExportFlags {
  readonly format: "json" | "csv" | "hgrm" | "html";
  readonly rows: "samples" | "operations" | "percentiles";
  readonly of: string;
  readonly out?: string;
  readonly url?: string;
}

const CANNOT_RUN = 2;

/** `npm run lab -- export <runId> --format html`: exports a run as a file. */
export function addExportCommand(program: Command): void {
  program
    .command("export")
    .description("export a run as JSON, CSV, .hgrm, or one HTML file that opens offline (docs/exports.md)")
    .argument("<runId>", "id of the run, as in the address of its page")
    .addOption(new Option("--format <format>", "file format").choices(["json", "csv", "hgrm", "html"]).default("html"))
    .addOption(
      new Option("--rows <what>", "content of a CSV file")
        .choices(["samples", "operations", "percentiles"])
        .default("samples"),
    )
    .addOption(
      new Option("--of <distribution>", "distribution in an .hgrm file")
        .choices(["latency", "poolWait", "wait", "hold", "commit", "buyers"])
        .default("latency"),
    )
    .option("--out <file>", "file to write, `-` for stdout (default: a name made from the run, in the current folder)")
    .addOption(
      new Option("--url <url>", "URL of a running lab (default: the lab of this checkout)")
        .env("LAB_URL")
        .argParser(labUrl),
    )
    .action(async (runId: string, flags: ExportFlags) => {
      process.exitCode = await exportRun(runId, flags).catch((error: unknown) => {
        printError(explainFailure(error));
        return CANNOT_RUN;
      });
    });
}

async function exportRun(runId: string, { format, rows, of, out, url }: ExportFlags): Promise<number> {
  const lab = await labOf(url === undefined ? {} : { url });
  const file = await fetchExport(lab, runId, { format, rows, of });
  if (out === "-") {
    printFile(file.text);
    return 0;
  }
  const place = path.resolve(process.env.INIT_CWD ?? process.cwd(), out ?? file.name);
  await writeFile(place, file.text);
  printError(`Wrote ${path.relative(process.env.INIT_CWD ?? process.cwd(), place)}`);
  return 0;
}
