import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type RangeResult, runSeeds } from "./sale/run-seeds";
import { Sale, type SaleResult } from "./sale/sale";
import { PROFILES, type Profile, type SimStrategy } from "./sale/scenario";
import { withQuickAborts } from "./world/quick-abort";

/** 10,000 worlds for each strategy: in most of them the lock alone must hold. */
export const SEEDS: Readonly<Record<Profile, number>> = { benign: 5_000, pause: 4_000, amnesia: 1_000 };
const REPLAYED_SEEDS = 20;

/** What every strategy has to keep, and what an unfenced one has to be seen to break. */
export function simulate(strategy: SimStrategy): void {
  describe(`${strategy.id} in the simulator`, () => {
    for (const profile of PROFILES) {
      it(`keeps what it promises over ${SEEDS[profile]} seeds of profile ${profile}`, async () => {
        const result = await runSeeds({ strategy, profile, firstSeed: 1, seeds: SEEDS[profile] });
        console.log(summary(strategy.id, profile, result));
        assert.equal(result.failed.length, 0, await story(strategy, profile, result.failed[0]));
        // What breaks a lock without a fence must show; a simulator that cannot break it proves nothing.
        if (profile !== "benign" && !strategy.isFenced)
          assert.ok(result.brokenSeeds > 0, `no seed of profile ${profile} breaks ${strategy.id}`);
        if (profile === "benign") assert.equal(result.brokenSeeds, 0);
        assert.ok(result.sold > SEEDS[profile], "hardly anything was sold: the worlds are too hostile to say anything");
      });
    }

    it("repeats a world exactly, on Node's own abort signals too", async () => {
      for (const profile of PROFILES) {
        for (let seed = 1; seed <= REPLAYED_SEEDS; seed += 1) {
          const first = await withQuickAborts(() => new Sale({ strategy, profile, seed }).run());
          const again = await new Sale({ strategy, profile, seed, isTracing: true }).run();
          assert.equal(again.hash, first.hash, `${profile}, seed ${seed}`);
          assert.equal(again.events, first.events);
        }
      }
    });
  });
}

export function summary(id: string, profile: Profile, result: RangeResult): string {
  const { seeds, cpuMs, grants, events, brokenSeeds, firstBrokenSeed } = result;
  const speed = `${Math.round(seeds / (cpuMs / 1_000))} seeds per CPU second`;
  const broken = brokenSeeds === 0 ? "none broken" : `${brokenSeeds} broken, first ${firstBrokenSeed}`;
  return `${id} ${profile}: ${seeds} seeds, ${grants} grants, ${events} events, ${broken}, ${speed}`;
}

/** How to see it again, and what happens then. */
async function story(strategy: SimStrategy, profile: Profile, failed: SaleResult | undefined): Promise<string> {
  if (!failed) return "";
  const { seed, violations } = failed;
  const { lines } = await new Sale({ strategy, profile, seed, isTracing: true }).run();
  const replay = `npm run simulate -- --strategy ${strategy.id} --profile ${profile} --seed ${seed} --trace`;
  const broken = violations.map(({ property, detail }) => `${property}: ${detail}`);
  return [...broken, replay, ...lines].join("\n");
}
