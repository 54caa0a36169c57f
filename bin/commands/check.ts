import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type Command, Option } from "commander";
import { checkParsedHistory } from "../../lib/history/check-history";
import { toKnossos } from "../../lib/history/export-knossos";
import { toPorcupine } from "../../lib/history/export-porcupine";
import { type HistorySource, type ParsedHistory, parseHistory } from "../../lib/history/parse";
import { printable, printableLine } from "../../load-tests/lib/printable.js";
import { formatReport } from "../history/format-report";
import { EXIT } from "../runs/exit-codes";
import { writeError, writeOut } from "../shared/terminal";

interface CheckFlags {
  readonly json: boolean;
  readonly export?: keyof typeof EXPORTS;
  readonly out?: string;
  readonly host?: string;
}

const EXPORTS = { porcupine: toPorcupine, knossos: toKnossos } as const;

/** The process as the command sees it; tests replace it. */
export interface CheckProcess {
  readonly stdin: HistorySource;
  readonly workingDir: string;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly setExitCode: (code: number) => void;
}

const THIS_PROCESS: CheckProcess = {
  stdin: process.stdin,
  // npm changes the working directory to the project root; INIT_CWD is where the user typed the command.
  workingDir: process.env.INIT_CWD ?? process.cwd(),
  stdout: writeOut,
  stderr: writeError,
  setExitCode: (code) => {
    process.exitCode = code;
  },
};

/** `npm run lab -- check <file>`: checks a recorded history, or exports it for another checker. */
export function addCheckCommand(program: Command, io: CheckProcess = THIS_PROCESS): void {
  program
    .command("check")
    .description("check a recorded history: exit 0 if safe, 1 if unsafe, 2 if inconclusive or unreadable")
    .argument("<file>", "a history as NDJSON (docs/history-format.md), or - for standard input")
    .option("--json", "print {verdict, violations, findings, measures} as JSON", false)
    .addOption(
      new Option("--export <format>", "export acquires and releases for another checker instead").choices(
        Object.keys(EXPORTS),
      ),
    )
    .option("--out <file>", "write the export to this file instead of standard output")
    .option("--host <name>", "export the operations of this host; required if the history has several hosts")
    .action(async (file: string, flags: CheckFlags) => {
      const source = file === "-" ? io.stdin : createReadStream(path.resolve(io.workingDir, file));
      const parsed = await parseHistory(source);
      io.setExitCode(
        flags.export === undefined ? printReport(parsed, flags, io) : await writeExport(parsed, flags, io),
      );
    });
}

/** @returns the exit code */
function printReport(parsed: ParsedHistory, { json }: CheckFlags, io: CheckProcess): number {
  const report = checkParsedHistory(parsed);
  io.stdout(`${json ? printable(JSON.stringify(report, null, 2)) : formatReport(report, parsed)}\n`);
  return EXIT[report.verdict];
}

/** @returns the exit code: 2 if the file has problems, because the other checker cannot detect them in the export */
async function writeExport(parsed: ParsedHistory, flags: CheckFlags, io: CheckProcess): Promise<number> {
  const text = EXPORTS[flags.export ?? "porcupine"](parsed, flags.host);
  if (flags.out === undefined) io.stdout(printable(text));
  else await writeFile(path.resolve(io.workingDir, flags.out), text);
  for (const { sentence } of parsed.doubts) io.stderr(`${printableLine(sentence)}\n`);
  return parsed.doubts.length > 0 ? EXIT.inconclusive : EXIT.safe;
}
