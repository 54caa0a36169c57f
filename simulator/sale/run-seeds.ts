import { createHash } from "node:crypto";
import { withFastAborts } from "../world/fast-abort";
import { Sale, type SaleOptions, type SaleResult } from "./sale";

export interface SeedRange extends Omit<SaleOptions, "seed" | "isTracing"> {
  readonly firstSeed: number;
  readonly seeds: number;
  /** Stops at the first seed that violates this property. */
  readonly stopAtViolation?: string;
}

export interface SeedRangeResult {
  readonly seeds: number;
  /** The first few worlds with a violation. */
  readonly failed: readonly SaleResult[];
  /** The world that violated `stopAtViolation`; null when none did. */
  readonly stoppedBy: SaleResult | null;
  /** Worlds with a lost update or two holders at once, whether or not the strategy promises to prevent them. */
  readonly brokenSeeds: number;
  readonly firstBrokenSeed: number | null;
  readonly grants: number;
  readonly sold: number;
  readonly events: number;
  readonly cpuMs: number;
  /** Hash over the hashes of the worlds, in seed order. */
  readonly hash: string;
}

/** A few failures show whether they have the same cause. */
const MAX_FAILURES_KEPT = 5;

export function runSeeds(range: SeedRange): Promise<SeedRangeResult> {
  return withFastAborts(() => runEach(range));
}

/** One hash for a list of hashes; the order counts. */
export function hashOf(hashes: readonly string[]): string {
  return createHash("sha256").update(hashes.join(" ")).digest("hex").slice(0, 16);
}

async function runEach(range: SeedRange): Promise<SeedRangeResult> {
  const { firstSeed, seeds, stopAtViolation, ...options } = range;
  const before = process.cpuUsage();
  // Recording stack traces is the largest cost of errors and aborts. A replay records them.
  const stackTraceLimit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  const summary = new Summary();
  let stoppedBy: SaleResult | null = null;
  for (let seed = firstSeed; seed < firstSeed + seeds && stoppedBy === null; seed += 1) {
    const result = await new Sale({ ...options, seed }).run();
    summary.add(result);
    if (result.violations.some(({ property }) => property === stopAtViolation)) stoppedBy = result;
    // A world runs in microtasks only. Yield here so that Node handles unhandled rejections, signals and messages.
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
    if (world.violations.length > 0 && this.#failed.length < MAX_FAILURES_KEPT) this.#failed.push(world);
  }

  result(): Omit<SeedRangeResult, "stoppedBy" | "cpuMs"> {
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

/** Joins the results of consecutive seed ranges. */
export function joinResults(results: readonly SeedRangeResult[]): SeedRangeResult {
  const total = (of: (result: SeedRangeResult) => number) => results.reduce((sum, result) => sum + of(result), 0);
  return {
    seeds: total(({ seeds }) => seeds),
    failed: results.flatMap(({ failed }) => failed).slice(0, MAX_FAILURES_KEPT),
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
