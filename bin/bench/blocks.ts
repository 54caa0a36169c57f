import type { RunCounts } from "../../lib/node/figures";
import { type MedianInterval, medianInterval } from "../../lib/runs/median-interval";

/** Derives the cost of the recorder from alternating blocks of purchases with the recorder on and off. Pure. */

export interface BlockOrder {
  readonly runId: string;
  readonly strategy: string;
  readonly stock: number;
  readonly isRecording: boolean;
}

export interface BlockReport {
  /** CPU time of the store node during the block, user and system. */
  readonly cpuUs: number;
  readonly recorded: number;
  readonly dropped: number;
  readonly counts?: RunCounts | undefined;
}

export interface Block {
  readonly isRecording: boolean;
  readonly purchases: number;
  readonly elapsedMs: number;
  readonly cpuUs: number;
}

/** on, off, off, on, on, off …: drift of the machine's speed affects both equally, and neither always comes first. */
export function turns(pairs: number): boolean[] {
  return Array.from({ length: pairs }, (_, index) => (index % 2 === 0 ? [true, false] : [false, true])).flat();
}

export interface Cost {
  /** Purchases a second. */
  readonly on: MedianInterval | null;
  readonly off: MedianInterval | null;
  /** Percent of throughput that recording costs, per pair; negative if noise made the recorder's block faster. */
  readonly throughputPercent: MedianInterval | null;
  /** Percent of CPU time per purchase that recording adds, per pair. */
  readonly cpuPercent: MedianInterval | null;
}

/** @param blocks in the order of `turns` */
export function costOf(blocks: readonly Block[]): Cost {
  const pairs = Array.from({ length: Math.floor(blocks.length / 2) }, (_, index) => {
    const both = blocks.slice(2 * index, 2 * index + 2);
    return { on: both.find(({ isRecording }) => isRecording), off: both.find(({ isRecording }) => !isRecording) };
  });
  const percents = (cost: (on: Block, off: Block) => number) =>
    pairs.flatMap(({ on, off }) => (on === undefined || off === undefined ? [] : [100 * cost(on, off)]));
  return {
    on: medianInterval(blocks.filter(({ isRecording }) => isRecording).map(perSecond)),
    off: medianInterval(blocks.filter(({ isRecording }) => !isRecording).map(perSecond)),
    throughputPercent: medianInterval(percents((on, off) => 1 - perSecond(on) / perSecond(off))),
    cpuPercent: medianInterval(percents((on, off) => cpuEach(on) / cpuEach(off) - 1)),
  };
}

export function perSecond({ purchases, elapsedMs }: Block): number {
  return (purchases * 1_000) / elapsedMs;
}

/** CPU time of the node per purchase, over all blocks. */
export function cpuUsEach(blocks: readonly Block[]): number {
  const sum = (pick: (block: Block) => number) => blocks.reduce((total, block) => total + pick(block), 0);
  return (
    sum(({ cpuUs }) => cpuUs) /
    Math.max(
      1,
      sum(({ purchases }) => purchases),
    )
  );
}

function cpuEach({ cpuUs, purchases }: Block): number {
  return cpuUs / purchases;
}
