import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Command } from "commander";
import { z } from "zod";
import { type LossOrder, type LossSeries, lossSeriesSchema } from "../loss/loss-measurement";
import { lossPage } from "../loss/loss-page";
import { wholeNumber } from "../runs/options";
import { print, printError } from "../shared/terminal";
import { ROOT } from "../supervisor/paths";
import { runChild } from "../supervisor/run-child";
import { currentCommit } from "../supervisor/version";
import { withServers } from "../supervisor/with-servers";

interface LossFlags {
  readonly repeats: number;
  readonly ttl: number;
  readonly out: string;
}

/** The command has separate servers, so it can run beside `npm start` and `npm test`. */
const INSTANCE = "loss";
const PORT_BASE = 27_000;
const LIMIT_MS = 60 * 60_000;
/** Measures with the clients and relays of the conformance suite, so it is a test program. */
const MEASURING_PROGRAM = join("tests", "conformance", "measure-loss-main.ts");

/** `npm run lab -- loss-to-signal`: ends holds on real servers, times the signal, writes docs/loss-to-signal.md. */
export function addLossToSignalCommand(program: Command): void {
  program
    .command("loss-to-signal")
    .description("measure for every lock with a lease or session how soon its holder detects that the hold is lost")
    .option("--repeats <n>", "losses per strategy", wholeNumber(1, 1_000), 15)
    .option("--ttl <ms>", "lease length", wholeNumber(1_000, 60_000), 3_000)
    .option("--out <file>", "output file", join(ROOT, "docs", "loss-to-signal.md"))
    .action(async ({ repeats, ttl: ttlMs, out }: LossFlags) => {
      const series = await withServers({ instance: INSTANCE, portBase: PORT_BASE }, (signal) =>
        measureAll({ repeats, ttlMs }, signal),
      );
      const page = lossPage({ series, repeats, ttlMs, commit: await currentCommit() });
      await writeFile(out, page);
      print(page);
      printError(`wrote ${relative(process.cwd(), out)}`);
    });
}

async function measureAll(
  { repeats, ttlMs }: Pick<LossOrder, "repeats" | "ttlMs">,
  signal: AbortSignal,
): Promise<LossSeries[]> {
  const folder = await mkdtemp(join(tmpdir(), "loss-to-signal-"));
  const order: LossOrder = { repeats, ttlMs, resultFile: join(folder, "series.json") };
  try {
    const { code, endedBecause } = await runChild({
      command: process.execPath,
      args: ["--import", "tsx", MEASURING_PROGRAM, JSON.stringify(order)],
      env: process.env,
      limitMs: LIMIT_MS,
      signal,
    });
    if (endedBecause !== null || code !== 0)
      throw new Error(`${MEASURING_PROGRAM} failed: ${endedBecause ?? `exit code ${code}`}; see its output above`);
    return z.array(lossSeriesSchema).parse(JSON.parse(await readFile(order.resultFile, "utf8")));
  } finally {
    await rm(folder, { recursive: true });
  }
}
