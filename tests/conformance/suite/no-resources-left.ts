import assert from "node:assert/strict";
import type { Case } from "./case";
import type { StrategyUnderTest } from "./strategy-under-test";

/** Runs after the cases that need all three workers. The worker pool checks that an idle worker exits. */
export const noResourcesLeft: Case<StrategyUnderTest> = {
  name: () => "leaves no timer and no connection after disposal",
  async run(tested) {
    const worker = (await tested.workers())[0];
    if (!worker) throw new Error("the worker pool is empty");
    assert.deepEqual(await worker.close(), []);
  },
};
