import { writeFile } from "node:fs/promises";
import type { LossOrder, LossSeries } from "../../bin/loss/loss-measurement";
import type { StrategyTraits } from "../../lib/locks/types";
import { stockStrategies } from "../../lib/stock/stock-strategies";
import { measureLoss } from "./suite/measure-loss";
import { LockUnderTest } from "./suite/strategy-under-test";

/** The program behind `npm run lab -- loss-to-signal`. Takes a LossOrder as JSON and writes the measured series. */

/** Locks whose holder can lose its hold and detects that. */
function isMeasurable({ kind, ownerless, expiryClock }: StrategyTraits): boolean {
  return kind === "lock" && !ownerless && expiryClock !== "none";
}

async function main(): Promise<void> {
  const { repeats, ttlMs, resultFile }: LossOrder = JSON.parse(process.argv[2] ?? "null");
  const series: LossSeries[] = [];
  for (const { traits } of stockStrategies.values()) {
    if (!isMeasurable(traits)) continue;
    await using tested = new LockUnderTest({ strategyId: traits.id }, { traits, external: null });
    const losses = [];
    for (let turn = 0; turn < repeats; turn += 1) losses.push(await measureLoss(tested, ttlMs));
    series.push({ strategyId: traits.id, losses });
    console.error(`${traits.id}: ${losses.map(({ toSignalMs }) => Math.round(toSignalMs)).join(" ")} ms`);
  }
  await writeFile(resultFile, JSON.stringify(series));
}

await main();
