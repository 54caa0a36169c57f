import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { MUTANTS } from "../../simulator/mutants/index";
import { Runners } from "../../simulator/runners/runners";
import { hashOf, joinResults, type RangeResult } from "../../simulator/sale/run-seeds";
import { Sale, type SaleResult } from "../../simulator/sale/sale";
import { PROFILES, type Profile, type SimStrategy } from "../../simulator/sale/scenario";
import { SIM_STRATEGIES } from "../../simulator/strategies/simulated-strategies";

/** 10,000 worlds for each strategy: in most of them the lock alone must hold. */
const SEEDS: Readonly<Record<Profile, number>> = { benign: 5_000, pause: 4_000, amnesia: 1_000 };
/** Small enough that the last ones keep no core waiting. */
const SEEDS_PER_ORDER = 500;
const REPLAYED_SEEDS = 20;
/** A mutant that lives longer than this has survived. */
const MOST_SEEDS = 5_000;

let runners: Runners;
before(async () => {
  runners = await Runners.start();
});
after(() => runners[Symbol.asyncDispose]());

// All at once, so that no core waits between one test and the next: the runners take their orders in turn.
describe("the simulator", { concurrency: true }, () => {
  for (const strategy of SIM_STRATEGIES) {
    for (const profile of PROFILES)
      it(`sees ${strategy.id} keep what it promises over ${SEEDS[profile]} seeds of profile ${profile}`, async () => {
        const result = await runAll(strategy, profile);
        console.log(summary(strategy.id, profile, result));
        assert.equal(result.seeds, SEEDS[profile]);
        assert.equal(result.failed.length, 0, await story(strategy, profile, result.failed[0]));
        // What breaks a lock without a fence must show; a simulator that cannot break it proves nothing.
        if (profile !== "benign" && !strategy.isFenced)
          assert.ok(result.brokenSeeds > 0, `no seed of profile ${profile} breaks ${strategy.id}`);
        if (profile === "benign") assert.equal(result.brokenSeeds, 0);
        assert.ok(result.sold > SEEDS[profile], "hardly anything was sold: the worlds are too hostile to say anything");
      });

    it(`repeats ${strategy.id}'s worlds exactly, in another process and on Node's own abort signals`, async () => {
      for (const profile of PROFILES) {
        const first = await runners.run({ subject: strategy.id, profile, firstSeed: 1, seeds: REPLAYED_SEEDS });
        const again: SaleResult[] = [];
        for (let seed = 1; seed <= REPLAYED_SEEDS; seed += 1)
          again.push(await new Sale({ strategy, profile, seed, isTracing: true }).run());
        assert.equal(hashOf(again.map(({ hash }) => hash)), first.hash, profile);
        assert.equal(
          again.reduce((sum, { events }) => sum + events, 0),
          first.events,
        );
      }
    });
  }

  for (const { name, strategy, profile, breaks, fence, twin } of MUTANTS)
    it(`catches the mutant "${name}" of ${strategy.id} by ${breaks}, and replays it`, async () => {
      const order = { subject: name, profile, firstSeed: 1, seeds: MOST_SEEDS, stopsAt: breaks };
      const { stoppedBy: first } = await runners.run(order);
      assert.ok(first, `survived ${MOST_SEEDS} seeds of profile ${profile}`);
      const { seed } = first;
      const detail = first.violations.find(({ property }) => property === breaks)?.detail;
      console.log(`${name}: ${breaks} at seed ${seed}: ${detail}`);
      const again = await new Sale({ strategy, profile, seed, isTracing: true, ...(fence ? { fence } : {}) }).run();
      assert.deepEqual(withoutStacks(again), withoutStacks(first));
      assert.equal(again.hash, first.hash);
      assert.ok(again.lines.some((line) => line.includes(`VIOLATION of ${breaks}`)));
      for (let tried = 1; twin && tried <= seed; tried += 1) {
        const { violations } = await new Sale({ strategy: twin, profile, seed: tried }).run();
        assert.deepEqual(violations, [], `its twin without the mistake breaks at seed ${tried} too`);
      }
    });
});

async function runAll({ id: subject }: SimStrategy, profile: Profile): Promise<RangeResult> {
  const last = SEEDS[profile];
  const results: Promise<RangeResult>[] = [];
  for (let firstSeed = 1; firstSeed <= last; firstSeed += SEEDS_PER_ORDER) {
    const seeds = Math.min(SEEDS_PER_ORDER, last + 1 - firstSeed);
    results.push(runners.run({ subject, profile, firstSeed, seeds }));
  }
  return joinResults(await Promise.all(results));
}

/** The runners keep none. */
function withoutStacks({ violations }: SaleResult): readonly (readonly [string, number])[] {
  return violations.map(({ property, atMs }) => [property, atMs]);
}

function summary(id: string, profile: Profile, result: RangeResult): string {
  const { seeds, cpuMs, grants, events, brokenSeeds, firstBrokenSeed, hash } = result;
  const speed = `${Math.round(seeds / (cpuMs / 1_000))} seeds per CPU second`;
  const broken = brokenSeeds === 0 ? "none broken" : `${brokenSeeds} broken, first ${firstBrokenSeed}`;
  return `${id} ${profile}: ${seeds} seeds, ${grants} grants, ${events} events, hash ${hash}, ${broken}, ${speed}`;
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
