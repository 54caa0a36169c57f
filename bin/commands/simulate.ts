import { availableParallelism } from "node:os";
import { type Command, InvalidArgumentError } from "commander";
import type { Order } from "../../simulator/runners/orders";
import type { Runners } from "../../simulator/runners/runners";
import type { RangeResult } from "../../simulator/sale/run-seeds";
import { Sale } from "../../simulator/sale/sale";
import { PROFILES, type Profile, type SimStrategy } from "../../simulator/sale/scenario";
import { SIM_STRATEGIES } from "../../simulator/strategies/simulated-strategies";

interface SimulateFlags {
  readonly seeds: number;
  readonly from: number;
  readonly strategy?: SimStrategy;
  readonly profile?: Profile;
  readonly seed?: number;
  readonly trace?: boolean;
}

const SEEDS_PER_ORDER = 1_000;
const REPORT_EVERY_MS = 5_000;

/** `npm run simulate`: worlds without end, or one of them again. */
export function addSimulateCommand(program: Command): void {
  program
    .command("simulate")
    .description("run the locks in simulated worlds, one a seed; exit 1 when one breaks a promise")
    .option("--seeds <n>", "worlds of each strategy and profile", wholeNumber, 10_000)
    .option("--from <seed>", "the first of them", wholeNumber, 1)
    .option("--strategy <id>", SIM_STRATEGIES.map(({ id }) => id).join(", "), strategyOf)
    .option("--profile <name>", PROFILES.join(", "), profileOf)
    .option("--seed <seed>", "this world only", wholeNumber)
    .option("--trace", "with --seed: what happens in it, line by line")
    .action(async (flags: SimulateFlags) => {
      process.exitCode = flags.seed === undefined ? await soak(flags) : await replay(flags, flags.seed);
    });
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("A whole number is expected.");
  return Number(text);
}

function strategyOf(text: string): SimStrategy {
  const known = SIM_STRATEGIES.find(({ id }) => id === text);
  if (!known) throw new InvalidArgumentError(`Valid strategies: ${SIM_STRATEGIES.map(({ id }) => id).join(", ")}.`);
  return known;
}

function profileOf(text: string): Profile {
  const known = PROFILES.find((profile) => profile === text);
  if (!known) throw new InvalidArgumentError(`Valid profiles: ${PROFILES.join(", ")}.`);
  return known;
}

/** @returns the exit code */
async function replay({ strategy, profile, trace }: SimulateFlags, seed: number): Promise<number> {
  let exitCode = 0;
  for (const chosen of strategy ? [strategy] : SIM_STRATEGIES) {
    for (const name of profile ? [profile] : PROFILES) {
      const { lines, violations, hash, events } = await new Sale({
        strategy: chosen,
        profile: name,
        seed,
        isTracing: trace === true,
      }).run();
      if (lines.length > 0) console.log(lines.join("\n"));
      const verdict = violations.length === 0 ? "every promise kept" : `${violations.length} broken`;
      console.log(`${chosen.id} ${name} seed ${seed}: ${verdict}, ${events} events, hash ${hash}`);
      for (const { property, atMs, detail } of violations)
        console.log(`  ${property} at ${atMs.toFixed(2)} ms: ${detail}`);
      if (violations.length > 0) exitCode = 1;
    }
  }
  return exitCode;
}

/** Ends early only at a broken promise, once every process has finished its order. @returns the exit code */
async function soak({ seeds, from, strategy, profile }: SimulateFlags): Promise<number> {
  const orders: Order[] = [];
  for (let firstSeed = from; firstSeed < from + seeds; firstSeed += SEEDS_PER_ORDER)
    for (const { id: subject } of strategy ? [strategy] : SIM_STRATEGIES)
      for (const name of profile ? [profile] : PROFILES)
        orders.push({ subject, profile: name, firstSeed, seeds: Math.min(SEEDS_PER_ORDER, from + seeds - firstSeed) });
  const progress = new Progress(orders.reduce((sum, order) => sum + order.seeds, 0));
  const workers = Math.min(availableParallelism(), orders.length);
  // esbuild, which makes the simulator's script, is there for development only.
  const { Runners } = await import("../../simulator/runners/runners");
  const runners = await Runners.start(workers);
  try {
    await Promise.all(Array.from({ length: workers }, () => work(runners, orders, progress)));
  } finally {
    await runners[Symbol.asyncDispose]();
  }
  progress.report();
  return progress.isBroken ? 1 : 0;
}

async function work(runners: Runners, orders: Order[], progress: Progress): Promise<void> {
  for (let order = orders.shift(); order && !progress.isBroken; order = orders.shift())
    progress.add(order, await runners.run(order));
}

class Progress {
  readonly #total: number;
  readonly #startedMs = performance.now();
  #reportedMs = 0;
  #done = 0;
  #broken = 0;
  isBroken = false;

  constructor(total: number) {
    this.#total = total;
  }

  add({ subject, profile }: Order, { seeds, failed, brokenSeeds }: RangeResult): void {
    this.#done += seeds;
    this.#broken += brokenSeeds;
    for (const { seed, violations } of failed) {
      this.isBroken = true;
      const what = violations.map(({ property, detail }) => `${property}: ${detail}`).join("; ");
      console.log(`${subject} ${profile} seed ${seed} breaks ${what}`);
      console.log(`  npm run simulate -- --strategy ${subject} --profile ${profile} --seed ${seed} --trace`);
    }
    if (performance.now() - this.#reportedMs > REPORT_EVERY_MS) this.report();
  }

  report(): void {
    this.#reportedMs = performance.now();
    const seconds = (this.#reportedMs - this.#startedMs) / 1_000;
    const speed = Math.round(this.#done / seconds);
    const unfenced = `${this.#broken} worlds in which a fault broke what was not promised to survive it`;
    console.log(`${this.#done} of ${this.#total} worlds, ${speed} a second; ${unfenced}`);
  }
}
