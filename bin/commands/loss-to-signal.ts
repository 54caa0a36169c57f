import { writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Command } from "commander";
import { isMeasurable, type LossSeries, lossPage } from "../loss/loss-page";
import { wholeNumber } from "../runs/options";
import { Lab, SERVER_ENV_NAMES } from "../supervisor/lab";
import { instancePaths, ROOT } from "../supervisor/paths";
import { currentCommit } from "../supervisor/version";

interface LossFlags {
  readonly repeats: number;
  readonly ttl: number;
  readonly out: string;
}

/** Servers of its own, apart from those of `npm start` and `npm test`. */
const INSTANCE = "loss";
const PORT_BASE = 27_000;

/** `npm run lab -- loss-to-signal`: takes holds away on real servers, times the signal, writes docs/loss-to-signal.md. */
export function addLossToSignalCommand(program: Command): void {
  program
    .command("loss-to-signal")
    .description("time how long a holder takes to learn that its hold is lost, for every lock that can lose one")
    .option("--repeats <n>", "losses of each", wholeNumber(1, 1_000), 15)
    .option("--ttl <ms>", "length of a lease", wholeNumber(1_000, 60_000), 3_000)
    .option("--out <file>", "where the page is written", join(ROOT, "docs", "loss-to-signal.md"))
    .action(async (flags: LossFlags) => {
      const page = await withServers(() => measureAll(flags));
      await writeFile(flags.out, page);
      console.log(page);
      console.error(`written to ${relative(process.cwd(), flags.out)}`);
    });
}

async function withServers<T>(work: () => Promise<T>): Promise<T> {
  for (const name of SERVER_ENV_NAMES) delete process.env[name];
  const lab = await Lab.claim({
    paths: instancePaths(INSTANCE),
    portBase: PORT_BASE,
    onStep: () => {},
    onNote: (sentence) => console.error(sentence),
  });
  const interrupt = () => void lab.stop().finally(() => process.exit(130));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, interrupt);
  try {
    await lab.startServers();
    Object.assign(process.env, lab.state.env);
    return await work();
  } finally {
    await lab.stop();
  }
}

async function measureAll({ repeats, ttl: ttlMs }: LossFlags): Promise<string> {
  // Only now: they read the environment.
  const { stockStrategies } = await import("../../lib/stock/stock-strategies");
  const { LockUnderTest } = await import("../../tests/conformance/suite/strategy-under-test");
  const { measureLoss } = await import("../../tests/conformance/suite/measure-loss");
  const series: LossSeries[] = [];
  for (const { traits } of stockStrategies.values()) {
    if (!isMeasurable(traits)) continue;
    const plug = { strategyId: traits.id };
    await using subject = new LockUnderTest(plug, { traits, foreign: null });
    const losses = [];
    for (let turn = 0; turn < repeats; turn += 1) losses.push(await measureLoss(subject, ttlMs));
    series.push({ strategyId: traits.id, losses });
    console.error(`${traits.id}: ${losses.map(({ toSignalMs }) => Math.round(toSignalMs)).join(" ")} ms`);
  }
  return lossPage({ series, repeats, ttlMs, commit: await currentCommit() });
}
