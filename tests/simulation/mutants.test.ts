import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MUTANTS } from "./mutants/index";
import { Sale } from "./sale/sale";

/** A mutant that lives longer than this has survived. */
const MOST_SEEDS = 5_000;

describe("the simulator", () => {
  for (const { name, strategy, profile, breaks, fence } of MUTANTS) {
    it(`catches the mutant "${name}" of ${strategy.id} by ${breaks}, and replays it`, async () => {
      for (let seed = 1; seed <= MOST_SEEDS; seed += 1) {
        const options = { strategy, profile, seed, ...(fence ? { fence } : {}) };
        const first = await new Sale(options).run();
        const caught = first.violations.find(({ property }) => property === breaks);
        if (!caught) continue;
        console.log(`${name}: ${breaks} at seed ${seed}: ${caught.detail}`);
        const again = await new Sale({ ...options, isTracing: true }).run();
        assert.deepEqual(again.violations, first.violations);
        assert.equal(again.hash, first.hash);
        assert.ok(again.lines.some((line) => line.includes(`VIOLATION of ${breaks}`)));
        return;
      }
      assert.fail(`survived ${MOST_SEEDS} seeds of profile ${profile}`);
    });
  }
});
