import assert from "node:assert/strict";
import type { Case } from "./case";
import type { StrategyUnderTest } from "./strategy-under-test";

/** Comes after the cases that need all three workers. That a process without strategies ends, the pool sees to. */
export const nothingLeft: Case<StrategyUnderTest> = {
  name: () => "leaves no timer and no connection when it is disposed of",
  async run(subject) {
    const worker = (await subject.workers())[0];
    if (!worker) throw new Error("there is no worker");
    assert.deepEqual(await worker.close(), []);
  },
};
