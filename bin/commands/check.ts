import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type Command, Option } from "commander";
import { checkParsedHistory } from "../../lib/history/check-history";
import { toKnossos } from "../../lib/history/export-knossos";
import { toPorcupine } from "../../lib/history/export-porcupine";
import { type ParsedHistory, parseHistory } from "../../lib/history/parse";
import { formatReport } from "../history/format-report";
import { EXIT } from "../runs/exit-codes";

interface CheckFlags {
  readonly json: boolean;
  readonly export?: keyof typeof EXPORTS;
  readonly out?: string;
  readonly host?: string;
}

const EXPORTS = { porcupine: toPorcupine, knossos: toKnossos } as const;

/** `npm run lab -- check <file>`: judges a recorded history again, or hands it to another checker. */
export function addCheckCommand(program: Command): void {
  program
    .command("check")
    .description("judge a recorded history: exit 0 safe, 1 unsafe, 2 inconclusive or not readable")
    .argument("<file>", "a history as NDJSON (docs/history-format.md), or - for standard input")
    .option("--json", "print {verdict, violations, findings, measures}", false)
    .addOption(
      new Option("--export <form>", "write its acquires and releases for another checker instead").choices(
        Object.keys(EXPORTS),
      ),
    )
    .option("--out <file>", "where the export goes; standard output when absent")
    .option("--host <name>", "export this host's operations, where there are several")
    .action(async (file: string, flags: CheckFlags) => {
      const parsed = await parseHistory(file === "-" ? process.stdin : createReadStream(fromCaller(file)));
      process.exitCode = flags.export === undefined ? printJudgement(parsed, flags) : await exportTo(parsed, flags);
    });
}

/** @returns the exit code */
function printJudgement(parsed: ParsedHistory, { json }: CheckFlags): number {
  const judgement = checkParsedHistory(parsed);
  console.log(json ? JSON.stringify(judgement, null, 2) : formatReport(judgement, parsed));
  return EXIT[judgement.verdict];
}

/** @returns the exit code: 2 when there is a doubt about the file, which the other checker cannot know of */
async function exportTo(parsed: ParsedHistory, flags: CheckFlags): Promise<number> {
  const text = EXPORTS[flags.export ?? "porcupine"](parsed, flags.host);
  if (flags.out === undefined) process.stdout.write(text);
  else await writeFile(fromCaller(flags.out), text);
  for (const { sentence } of parsed.doubts) console.error(sentence);
  return parsed.doubts.length > 0 ? EXIT.inconclusive : EXIT.safe;
}

/** npm changes into the project's folder; a path is meant from where it was typed. */
function fromCaller(file: string): string {
  return path.resolve(process.env.INIT_CWD ?? process.cwd(), file);
}
