import { createHash } from "node:crypto";
import type { FenceCheck } from "../servers/sim-database";
import { withQuickAborts } from "../world/quick-abort";
import { Sale, type SaleResult } from "./sale";
import type { Profile, SimStrategy } from "./scenario";

export interface Range {
  readonly strategy: SimStrategy;
  readonly profile: Profile;
  readonly firstSeed: number;
  readonly seeds: number;
  readonly fence?: FenceCheck;
  /** Ends at the first seed that breaks this property. */
  readonly stopsAt?: string;
}

export interface RangeResult {
  readonly seeds: number;
  /** The first few with a violation. */
  readonly failed: readonly SaleResult[];
  /** The one that broke `stopsAt`. */
  readonly stoppedBy: SaleResult | null;
  /** Seeds in which an update was lost, or two believed at once. */
  readonly brokenSeeds: number;
  readonly firstBrokenSeed: number | null;
  readonly grants: number;
  readonly sold: number;
  readonly events: number;
  readonly cpuMs: number;
  /** Of the hashes of its worlds, in their order. */
  readonly hash: string;
}

/** One failure says enough; a few show whether they are alike. */
const MOST_FAILURES_KEPT = 5;

export function runSeeds(range: Range): Promise<RangeResult> {
  return withQuickAborts(() => runEach(range));
}

/** One for many, in their order. */
export function hashOf(hashes: readonly string[]): string {
  return createHash("sha256").update(hashes.join(" ")).digest("hex").slice(0, 16);
}

async function runEach(range: Range): Promise<RangeResult> {
  const { strategy, profile, firstSeed, seeds, fence, stopsAt } = range;
  const before = process.cpuUsage();
  // Stacks are what errors and aborts cost most; a replay has them.
  const stackTraceLimit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  const summary = new Summary();
  let stoppedBy: SaleResult | null = null;
  for (let seed = firstSeed; seed < firstSeed + seeds && stoppedBy === null; seed += 1) {
    const result = await new Sale({ strategy, profile, seed, ...(fence ? { fence } : {}) }).run();
    summary.add(result);
    if (result.violations.some(({ property }) => property === stopsAt)) stoppedBy = result;
    // A world never lets the event loop turn; unhandled rejections, signals and messages wait for this.
    await new Promise((resolve) => setImmediate(resolve));
  }
  Error.stackTraceLimit = stackTraceLimit;
  const { user, system } = process.cpuUsage(before);
  return { ...summary.result(), stoppedBy, cpuMs: (user + system) / 1_000 };
}

class Summary {
  readonly #failed: SaleResult[] = [];
  readonly #hashes: string[] = [];
  #brokenSeeds = 0;
  #firstBrokenSeed: number | null = null;
  #grants = 0;
  #sold = 0;
  #events = 0;

  add(world: SaleResult): void {
    this.#hashes.push(world.hash);
    this.#grants += world.grants;
    this.#sold += world.sold;
    this.#events += world.events;
    if (world.lostUpdates > 0 || world.overlaps > 0) {
      this.#brokenSeeds += 1;
      this.#firstBrokenSeed ??= world.seed;
    }
    if (world.violations.length > 0 && this.#failed.length < MOST_FAILURES_KEPT) this.#failed.push(world);
  }

  result(): Omit<RangeResult, "stoppedBy" | "cpuMs"> {
    return {
      seeds: this.#hashes.length,
      failed: this.#failed,
      brokenSeeds: this.#brokenSeeds,
      firstBrokenSeed: this.#firstBrokenSeed,
      grants: this.#grants,
      sold: this.#sold,
      events: this.#events,
      hash: hashOf(this.#hashes),
    };
  }
}

/** Of ranges that follow one another. */
export function joinResults(results: readonly RangeResult[]): RangeResult {
  const total = (of: (result: RangeResult) => number) => results.reduce((sum, result) => sum + of(result), 0);
  return {
    seeds: total(({ seeds }) => seeds),
    failed: results.flatMap(({ failed }) => failed).slice(0, MOST_FAILURES_KEPT),
    stoppedBy: results.find(({ stoppedBy }) => stoppedBy !== null)?.stoppedBy ?? null,
    brokenSeeds: total(({ brokenSeeds }) => brokenSeeds),
    firstBrokenSeed: results.find(({ firstBrokenSeed }) => firstBrokenSeed !== null)?.firstBrokenSeed ?? null,
    grants: total(({ grants }) => grants),
    sold: total(({ sold }) => sold),
    events: total(({ events }) => events),
    cpuMs: total(({ cpuMs }) => cpuMs),
    hash: hashOf(results.map(({ hash }) => hash)),
  };
}
