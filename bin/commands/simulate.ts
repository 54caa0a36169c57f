import { availableParallelism } from "node:os";
import { type Command, InvalidArgumentError } from "commander";
import type { RunnerPool } from "../../simulator/runners/runner-pool";
import type { SeedBatch } from "../../simulator/runners/seed-batch";
import type { SeedRangeResult } from "../../simulator/sale/run-seeds";
import { Sale } from "../../simulator/sale/sale";
import { PROFILES, type Profile, type SimStrategy } from "../../simulator/sale/scenario";
import { SIM_STRATEGIES } from "../../simulator/strategies/simulated-strategies";
import { print } from "../shared/terminal";

interface SimulateFlags {
  readonly seeds: number;
  readonly from: number;
  readonly strategy?: SimStrategy;
  readonly profile?: Profile;
  readonly seed?: number;
  readonly trace?: boolean;
}

const SEEDS_PER_BATCH = 1_000;
const REPORT_EVERY_MS = 5_000;

/** `npm run simulate`: runs many worlds, or replays one. */
export function addSimulateCommand(program: Command): void {
  program
    .command("simulate")
    .description("run the locks in simulated worlds, one per seed; exit 1 if a world violates a property")
    .option("--seeds <n>", "worlds per strategy and profile", wholeNumber, 10_000)
    .option("--from <seed>", "first seed", wholeNumber, 1)
    .option("--strategy <id>", SIM_STRATEGIES.map(({ id }) => id).join(", "), strategyOf)
    .option("--profile <name>", PROFILES.join(", "), profileOf)
    .option("--seed <seed>", "replay this world only", wholeNumber)
    .option("--trace", "with --seed: print every event")
    .action(async (flags: SimulateFlags) => {
      process.exitCode = flags.seed === undefined ? await runAllBatches(flags) : await replay(flags, flags.seed);
    });
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("Expected a whole number.");
  return Number(text);
}

function strategyOf(text: string): SimStrategy {
  const found = SIM_STRATEGIES.find(({ id }) => id === text);
  if (!found) throw new InvalidArgumentError(`Valid strategies: ${SIM_STRATEGIES.map(({ id }) => id).join(", ")}.`);
  return found;
}

function profileOf(text: string): Profile {
  const found = PROFILES.find((profile) => profile === text);
  if (!found) throw new InvalidArgumentError(`Valid profiles: ${PROFILES.join(", ")}.`);
  return found;
}

/** @returns the exit code */
async function replay(flags: SimulateFlags, seed: number): Promise<number> {
  let exitCode = 0;
  for (const strategy of flags.strategy ? [flags.strategy] : SIM_STRATEGIES) {
    for (const profile of flags.profile ? [flags.profile] : PROFILES) {
      const world = await new Sale({ strategy, profile, seed, isTracing: flags.trace === true }).run();
      const { lines, violations, hash, events } = world;
      if (lines.length > 0) print(lines.join("\n"));
      const verdict = violations.length === 0 ? "no violation" : `${violations.length} violations`;
      print(`${strategy.id} ${profile} seed ${seed}: ${verdict}, ${events} events, hash ${hash}`);
      for (const { property, atMs, detail } of violations) print(`  ${property} at ${atMs.toFixed(2)} ms: ${detail}`);
      if (violations.length > 0) exitCode = 1;
    }
  }
  return exitCode;
}

/** Runs all batches; after a violation it starts no further batch. @returns the exit code */
async function runAllBatches(flags: SimulateFlags): Promise<number> {
  const batches = batchesOf(flags);
  const progress = new Progress(batches.reduce((sum, batch) => sum + batch.seeds, 0));
  const workers = Math.min(availableParallelism(), batches.length);
  // Imported here because the pool needs esbuild, which a production install does not have.
  const { RunnerPool } = await import("../../simulator/runners/runner-pool");
  const runners = await RunnerPool.start(workers);
  try {
    await Promise.all(Array.from({ length: workers }, () => runBatches(runners, batches, progress)));
  } finally {
    await runners[Symbol.asyncDispose]();
  }
  progress.report();
  return progress.hasFailed ? 1 : 0;
}

function batchesOf({ seeds, from, strategy, profile }: SimulateFlags): SeedBatch[] {
  const batches: SeedBatch[] = [];
  for (let firstSeed = from; firstSeed < from + seeds; firstSeed += SEEDS_PER_BATCH) {
    const size = Math.min(SEEDS_PER_BATCH, from + seeds - firstSeed);
    for (const { id } of strategy ? [strategy] : SIM_STRATEGIES)
      for (const each of profile ? [profile] : PROFILES)
        batches.push({ name: id, profile: each, firstSeed, seeds: size });
  }
  return batches;
}

async function runBatches(runners: RunnerPool, batches: SeedBatch[], progress: Progress): Promise<void> {
  for (let batch = batches.shift(); batch && !progress.hasFailed; batch = batches.shift())
    progress.add(batch, await runners.run(batch));
}

class Progress {
  readonly #total: number;
  readonly #startedMs = performance.now();
  #reportedMs = 0;
  #done = 0;
  #broken = 0;
  hasFailed = false;

  constructor(total: number) {
    this.#total = total;
  }

  add({ name, profile }: SeedBatch, { seeds, failed, brokenSeeds }: SeedRangeResult): void {
    this.#done += seeds;
    this.#broken += brokenSeeds;
    for (const { seed, violations } of failed) {
      this.hasFailed = true;
      const details = violations.map(({ property, detail }) => `${property}: ${detail}`).join("; ");
      print(`${name} ${profile} seed ${seed} violates ${details}`);
      print(`  npm run simulate -- --strategy ${name} --profile ${profile} --seed ${seed} --trace`);
    }
    if (performance.now() - this.#reportedMs > REPORT_EVERY_MS) this.report();
  }

  report(): void {
    this.#reportedMs = performance.now();
    const seconds = (this.#reportedMs - this.#startedMs) / 1_000;
    const speed = Math.round(this.#done / seconds);
    const expected = `${this.#broken} worlds broken by a fault that the strategy does not claim to survive`;
    print(`${this.#done} of ${this.#total} worlds, ${speed} per second; ${expected}`);
  }
}
