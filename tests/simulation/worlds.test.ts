import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { MUTANTS } from "../../simulator/mutants/all-mutants";
import { RunnerPool } from "../../simulator/runners/runner-pool";
import { hashOf, joinResults, type SeedRangeResult } from "../../simulator/sale/run-seeds";
import { Sale, type SaleResult } from "../../simulator/sale/sale";
import { PROFILES, type Profile, type SimStrategy } from "../../simulator/sale/scenario";
import { SIM_STRATEGIES } from "../../simulator/strategies/simulated-strategies";

/** 1,000 worlds per strategy. `npm run simulate` runs more. */
const SEEDS: Readonly<Record<Profile, number>> = { benign: 500, pause: 400, amnesia: 100 };
/** Small batches keep every core busy until the end. */
const SEEDS_PER_BATCH = 100;
const REPLAYED_SEEDS = 20;

/**
 * Violations of locks without a fencing token are rare in some profiles: 1 in 300 seeds of zk-mutex under pauses. If the regular seeds
 * show none, further seeds run up to this one.
 */
const LAST_SEED_TO_FIND_VIOLATION = 4_000;
/** Every mutant must be caught within these seeds. The slowest needs 630. */
const MUTANT_SEEDS = 1_000;

/** Worlds beyond the seeds above that have violated a property. Each replays a defect that has been fixed. */
const REGRESSIONS = [
  { id: "zk-fenced", profile: "amnesia", seed: 1540, defect: "the simulated client opened two sessions at once" },
  { id: "redlock", profile: "pause", seed: 1498, defect: "a disposal did not wait for a renewal that was given up" },
] as const;

let runners: RunnerPool;
before(async () => {
  runners = await RunnerPool.start();
});
after(() => runners[Symbol.asyncDispose]());

// The tests run concurrently, so that no core is idle between two tests. The pool queues their batches.
describe("the simulator", { concurrency: true }, () => {
  for (const strategy of SIM_STRATEGIES) {
    for (const profile of PROFILES)
      it(`${strategy.id} violates no property in ${SEEDS[profile]} seeds of profile ${profile}`, async () => {
        const result = await runAll(strategy, profile);
        console.log(summary(strategy.id, profile, result));
        assert.equal(result.seeds, SEEDS[profile]);
        assert.equal(result.failed.length, 0, await replayText(strategy, profile, result.failed[0]));
        if (profile === "benign") assert.equal(result.brokenSeeds, 0);
        const { sold } = result;
        assert.ok(
          sold > SEEDS[profile],
          `expected more than ${SEEDS[profile]} sales, found ${sold}: the faults are too harsh`,
        );
      });

    for (const profile of PROFILES)
      if (profile !== "benign" && !strategy.isFenced)
        it(`${strategy.id}, which has no fencing token, is violated by profile ${profile}`, async () => {
          const seed = await findBrokenSeed(strategy, profile);
          console.log(`${strategy.id} ${profile}: broken in seed ${seed}`);
        });

    it(`${strategy.id} replays identically in another process and with Node's AbortController`, async () => {
      for (const profile of PROFILES) {
        const first = await runners.run({ name: strategy.id, profile, firstSeed: 1, seeds: REPLAYED_SEEDS });
        const replays: SaleResult[] = [];
        for (let seed = 1; seed <= REPLAYED_SEEDS; seed += 1)
          replays.push(await new Sale({ strategy, profile, seed, isTracing: true }).run());
        assert.equal(hashOf(replays.map(({ hash }) => hash)), first.hash, `the histories of profile ${profile} differ`);
        assert.equal(
          replays.reduce((sum, { events }) => sum + events, 0),
          first.events,
        );
      }
    });
  }

  for (const { id, profile, seed, defect } of REGRESSIONS)
    it(`${id} violates no property in seed ${seed} of profile ${profile}, in which ${defect}`, async () => {
      const { failed } = await runners.run({ name: id, profile, firstSeed: seed, seeds: 1 });
      assert.deepEqual(failed, []);
    });

  for (const { name, strategy, profile, breaks, mistake, control } of MUTANTS)
    it(`catches the mutant "${name}" of ${strategy.id} as a violation of ${breaks}, and replays it`, async () => {
      const batch = { name, profile, firstSeed: 1, seeds: MUTANT_SEEDS, stopAtViolation: breaks };
      const { stoppedBy: first } = await runners.run(batch);
      assert.ok(first, `expected a violation of ${breaks}, found none in ${MUTANT_SEEDS} seeds of profile ${profile}`);
      const { seed } = first;
      const detail = first.violations.find(({ property }) => property === breaks)?.detail;
      console.log(`${name}: ${breaks} at seed ${seed}: ${detail}`);
      const replay = await new Sale({ ...mistake, strategy, profile, seed, isTracing: true }).run();
      assert.deepEqual(withoutDetails(replay), withoutDetails(first));
      assert.equal(replay.hash, first.hash);
      assert.ok(replay.lines.some((line) => line.includes(`VIOLATION of ${breaks}`)));
      for (let tried = 1; control && tried <= seed; tried += 1) {
        const { violations } = await new Sale({ strategy: control, profile, seed: tried }).run();
        assert.deepEqual(violations, [], `the control without the mistake violates a property at seed ${tried}`);
      }
    });
});

async function runAll({ id: name }: SimStrategy, profile: Profile): Promise<SeedRangeResult> {
  const last = SEEDS[profile];
  const results: Promise<SeedRangeResult>[] = [];
  for (let firstSeed = 1; firstSeed <= last; firstSeed += SEEDS_PER_BATCH) {
    const seeds = Math.min(SEEDS_PER_BATCH, last + 1 - firstSeed);
    results.push(runners.run({ name, profile, firstSeed, seeds }));
  }
  return joinResults(await Promise.all(results));
}

/** A simulator that cannot break a lock without a fencing token would prove nothing about the other locks. */
async function findBrokenSeed({ id: name }: SimStrategy, profile: Profile): Promise<number> {
  for (let firstSeed = 1; firstSeed <= LAST_SEED_TO_FIND_VIOLATION; firstSeed += SEEDS_PER_BATCH) {
    const { firstBrokenSeed } = await runners.run({ name, profile, firstSeed, seeds: SEEDS_PER_BATCH });
    if (firstBrokenSeed !== null) return firstBrokenSeed;
  }
  assert.fail(`expected a lost update or two holders of ${name}, found none in ${LAST_SEED_TO_FIND_VIOLATION} seeds`);
}

/** Drops the details, which hold stack traces: the child processes record none. */
function withoutDetails({ violations }: SaleResult): readonly (readonly [string, number])[] {
  return violations.map(({ property, atMs }) => [property, atMs]);
}

function summary(id: string, profile: Profile, result: SeedRangeResult): string {
  const { seeds, cpuMs, grants, events, brokenSeeds, firstBrokenSeed, hash } = result;
  const speed = `${Math.round(seeds / (cpuMs / 1_000))} seeds per CPU second`;
  const broken = brokenSeeds === 0 ? "none broken" : `${brokenSeeds} broken, first ${firstBrokenSeed}`;
  return `${id} ${profile}: ${seeds} seeds, ${grants} grants, ${events} events, hash ${hash}, ${broken}, ${speed}`;
}

/** The violations of a failed world, the command that replays it, and its trace. */
async function replayText(strategy: SimStrategy, profile: Profile, failed: SaleResult | undefined): Promise<string> {
  if (!failed) return "";
  const { seed, violations } = failed;
  const { lines } = await new Sale({ strategy, profile, seed, isTracing: true }).run();
  const command = `npm run simulate -- --strategy ${strategy.id} --profile ${profile} --seed ${seed} --trace`;
  const details = violations.map(({ property, detail }) => `${property}: ${detail}`);
  return [...details, command, ...lines].join("\n");
}
