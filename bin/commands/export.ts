import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type Command, Option } from "commander";
import { explainFailure, labOf } from "../runs/execute";
import { fetchExport } from "../runs/lab-client";
import { labUrl } from "../runs/options";

interface ExportFlags {
  readonly format: "json" | "csv" | "hgrm" | "html";
  readonly rows: "samples" | "operations" | "percentiles";
  readonly of: string;
  readonly out?: string;
  readonly url?: string;
}

const CANNOT_RUN = 2;

/** `npm run lab -- export <runId> --format html`: a run as a file to keep. */
export function addExportCommand(program: Command): void {
  program
    .command("export")
    .description("write a run as a file: JSON, CSV, .hgrm, or one HTML file that opens offline (docs/exports.md)")
    .argument("<runId>", "the run, as its address names it")
    .addOption(new Option("--format <format>", "of the file").choices(["json", "csv", "hgrm", "html"]).default("html"))
    .addOption(
      new Option("--rows <what>", "of CSV: what a line is")
        .choices(["samples", "operations", "percentiles"])
        .default("samples"),
    )
    .addOption(
      new Option("--of <distribution>", "of .hgrm")
        .choices(["latency", "poolWait", "wait", "hold", "commit", "buyers"])
        .default("latency"),
    )
    .option("--out <file>", "where it goes, `-` for stdout (default: the run's own name, here)")
    .addOption(new Option("--url <url>", "a lab that is up elsewhere").env("LAB_URL").argParser(labUrl))
    .action(async (runId: string, flags: ExportFlags) => {
      process.exitCode = await exportRun(runId, flags).catch((error: unknown) => {
        console.error(explainFailure(error));
        return CANNOT_RUN;
      });
    });
}

async function exportRun(runId: string, { format, rows, of, out, url }: ExportFlags): Promise<number> {
  const lab = await labOf(url === undefined ? {} : { url });
  const file = await fetchExport(lab, runId, { format, rows, of });
  if (out === "-") {
    process.stdout.write(file.text);
    return 0;
  }
  const place = path.resolve(process.env.INIT_CWD ?? process.cwd(), out ?? file.name);
  await writeFile(place, file.text);
  console.error(`written to ${path.relative(process.env.INIT_CWD ?? process.cwd(), place)}`);
  return 0;
}
