import { type Command, InvalidArgumentError } from "commander";
import { PrintTurns, type Turn } from "../testing/print-turns";
import { readPropertySeed } from "../testing/property-seed";
import { STAGE_NAMES, STAGES, type Stage, type StageName, sharesApp } from "../testing/stages";
import { abortOnStopSignals } from "../testing/stop-signals";
import { printSummary } from "../testing/summary";
import { addTallies, failure, type Tally } from "../testing/tally";
import { TestSession } from "../testing/test-session";
import { runTwoAtATime } from "../testing/two-at-a-time";

interface TestFlags {
  readonly stage?: readonly StageName[];
  readonly filter?: string;
  readonly file?: string;
}

/** `npm test`: starts test servers, runs every stage, stops the servers, and counts the results. */
export function addTestCommand(program: Command): void {
  program
    .command("test")
    .description("start test servers and run every test; the last line is `N passed, N failed`")
    .option("--stage <name>", `run only this stage; can be repeated: ${STAGE_NAMES.join(", ")}`, collectStage)
    .option(
      "--filter <pattern>",
      "run only tests whose name matches; the set-up of every file still runs, so add --file",
    )
    .option("--file <part>", "run only test files with this in their path")
    .action(async (flags: TestFlags) => {
      process.exitCode = await runTests(flags);
    });
}

function collectStage(name: string, chosen: readonly StageName[] = []): readonly StageName[] {
  const known = STAGE_NAMES.find((stage) => stage === name);
  if (!known) throw new InvalidArgumentError(`Valid stages: ${STAGE_NAMES.join(", ")}.`);
  return [...chosen, known];
}

/**
 * @returns the exit code
 * @throws Error if PROPERTY_SEED is not a seed
 */
export async function runTests(flags: TestFlags): Promise<number> {
  const propertySeed = readPropertySeed();
  process.env.PROPERTY_SEED = String(propertySeed);
  const signal = abortOnStopSignals();
  const chosen = STAGES.filter(({ name }) => !flags.stage || flags.stage.includes(name));
  const { filter = null, file = null } = flags;
  const needsApp = chosen.some((stage) => stage.needs === "app" && !stage.isEmpty(file));
  const session = new TestSession({ filter, file, signal, needsApp, beginTurn: turnsFor(chosen) });
  const tallies: Tally[] = [];
  try {
    tallies.push(
      ...(await runTwoAtATime(chosen, {
        run: (stage) => session.runStage(stage),
        signal,
        excludesEachOther: sharesApp,
      })),
    );
  } finally {
    tallies.push(await session.end());
  }
  if (signal.aborted) tallies.push(failure("interrupted before the last test"));
  const tally = addTallies(tallies);
  if ((flags.filter ?? flags.file) !== undefined && tally.passed + tally.failed === 0)
    tallies.push(failure("no test matches --file and --filter"));
  return printSummary(addTallies(tallies), propertySeed);
}

/** A stage that runs alone prints to the terminal itself, in colour. */
function turnsFor(stages: readonly Stage[]): () => Turn {
  if (stages.length === 1) return () => ({ output: process.stdout, end: () => {} });
  const turns = new PrintTurns(process.stdout);
  return () => turns.begin();
}
