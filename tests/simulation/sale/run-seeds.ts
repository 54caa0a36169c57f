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
  /** Ends at the first seed with a violation. */
  readonly stopsAtFirst?: boolean;
  /** Called now and then. */
  readonly onProgress?: (done: number) => void;
}

export interface RangeResult {
  readonly seeds: number;
  readonly failed: readonly SaleResult[];
  /** Seeds in which an update was lost, or two believed at once. */
  readonly brokenSeeds: number;
  readonly firstBrokenSeed: number | null;
  readonly lostUpdates: number;
  readonly grants: number;
  readonly sold: number;
  readonly events: number;
  readonly cpuMs: number;
}

const SEEDS_PER_REPORT = 1_000;
/** One failure says enough; a few show whether they are alike. */
const MOST_FAILURES_KEPT = 5;

export function runSeeds(range: Range): Promise<RangeResult> {
  return withQuickAborts(() => runEach(range));
}

async function runEach(range: Range): Promise<RangeResult> {
  const { strategy, profile, firstSeed, seeds, fence } = range;
  const before = process.cpuUsage();
  // Stacks are what errors and aborts cost most; a replay has them.
  const stackTraceLimit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  const failed: SaleResult[] = [];
  const sum = { lostUpdates: 0, grants: 0, sold: 0, events: 0, brokenSeeds: 0 };
  let firstBrokenSeed: number | null = null;
  let done = 0;
  for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
    const result = await new Sale({ strategy, profile, seed, ...(fence ? { fence } : {}) }).run();
    done += 1;
    sum.lostUpdates += result.lostUpdates;
    sum.grants += result.grants;
    sum.sold += result.sold;
    sum.events += result.events;
    if (result.lostUpdates > 0 || result.overlaps > 0) {
      sum.brokenSeeds += 1;
      firstBrokenSeed ??= seed;
    }
    if (result.violations.length > 0) {
      if (failed.length < MOST_FAILURES_KEPT) failed.push(result);
      if (range.stopsAtFirst) break;
    }
    if (done % SEEDS_PER_REPORT === 0) range.onProgress?.(done);
    // A world never lets the event loop turn; unhandled rejections, signals and messages wait for this.
    await new Promise((resolve) => setImmediate(resolve));
  }
  Error.stackTraceLimit = stackTraceLimit;
  const { user, system } = process.cpuUsage(before);
  return { seeds: done, failed, firstBrokenSeed, cpuMs: (user + system) / 1_000, ...sum };
}
