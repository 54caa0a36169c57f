import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import path from "node:path";
import { Argument, type Command } from "commander";
import { benchPage, settledBy } from "../bench/page";
import { measureRecorder } from "../bench/recorder";
import { explainFailure } from "../runs/execute";
import { wholeNumber } from "../runs/options";
import { print, printError } from "../shared/terminal";
import { Lab } from "../supervisor/lab";
import { instancePaths, ROOT } from "../supervisor/paths";
import { StepPrinter } from "../supervisor/print";
import { currentCommit } from "../supervisor/version";

interface BenchFlags {
  readonly pairs: number;
  readonly blockMs: number;
  readonly buyers: number;
  readonly out: string;
}

/** Not the ports of `npm start` or `npm test`. */
const PORT_BASE = 22_000;
const TOO_EXPENSIVE = 1;
const INCONCLUSIVE = 2;
const CANNOT_RUN = 2;

/** `npm run bench -- recorder`: measures the cost of recording on separate servers. */
export function addBenchCommand(program: Command): void {
  program
    .command("bench")
    .description(
      "measure the cost of the recorder and write docs/benchmarks.md; exit 1 if the cost is above the limit, 2 if the noise hides it",
    )
    .addArgument(new Argument("<what>", "what to measure").choices(["recorder"]))
    .option("--pairs <n>", "pairs of blocks, one with and one without the recorder", wholeNumber(1, 500), 60)
    .option("--block-ms <n>", "length of a block", wholeNumber(100, 60_000), 400)
    .option("--buyers <n>", "concurrent buyers", wholeNumber(1, 500), 32)
    .option("--out <file>", "the page to write", path.join(ROOT, "docs", "benchmarks.md"))
    .action(async (what: string, flags: BenchFlags) => {
      process.exitCode = await bench(what, flags).catch((error: unknown) => {
        printError(explainFailure(error));
        return CANNOT_RUN;
      });
    });
}

async function bench(what: string, { pairs, blockMs, buyers, out }: BenchFlags): Promise<number> {
  const [loadBefore = 0] = loadavg();
  const printer = new StepPrinter(process.stderr);
  const lab = await Lab.claim({
    paths: instancePaths("bench"),
    portBase: PORT_BASE,
    onStep: (state) => printer.show(state.steps),
  });
  const stop = () => void lab.stop().finally(() => process.exit(CANNOT_RUN));
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    await lab.startServers();
    const say = (line: string) => printError(line);
    const { results, recordNs } = await measureRecorder({ pairs, blockMs, buyers, env: lab.state.env, say });
    const command = `npm run bench -- ${what} --pairs ${pairs} --block-ms ${blockMs} --buyers ${buyers}`;
    const machine = `${cpus().length} × ${cpus()[0]?.model ?? "unknown"}, Node.js ${process.version}`;
    const commit = await currentCommit();
    const page = benchPage({ results, commit, machine, command, pairs, blockMs, buyers, loadBefore, recordNs });
    await writeFile(out, page);
    print(page);
    const settled = results.map(settledBy);
    if (settled.includes("above")) return TOO_EXPENSIVE;
    return settled.includes("open") ? INCONCLUSIVE : 0;
  } finally {
    await lab.stop();
  }
}
