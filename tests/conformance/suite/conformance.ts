import { after, describe, it } from "node:test";
import { postgresPool } from "../../../lib/services/postgres";
import type { Case } from "./case";
import { lastLockCases, lockCases } from "./lock-cases/index";
import { noResourcesLeft } from "./no-resources-left";
import { stockCases } from "./stock-cases/index";
import { LockUnderTest, StrategyUnderTest } from "./strategy-under-test";
import { externalEntry, isLock, nameOf, type TestSetup, traitsOf } from "./test-setup";
import { endWorkers } from "./worker-pool";

after(async () => {
  // The tests create rows through the pool of this process, which would keep it alive.
  await postgresPool().end();
  await endWorkers();
});

/** Maximum duration of a case. */
const CASE_LIMIT_MS = 90_000;

export type ConformanceOptions = Omit<TestSetup, "strategyId">;

/**
 * Registers every applicable case with node:test: the lock cases for a lock, and the stock cases for every strategy.
 * The traits decide which cases apply and what they expect. Other cases are skipped with a reason.
 */
export async function conformance(strategyId: string, options: ConformanceOptions = {}): Promise<void> {
  const setup: TestSetup = { strategyId, ...options };
  const external = await externalEntry(setup);
  const traits = traitsOf(setup, external);
  describe(nameOf(setup), () => {
    if (isLock(setup)) {
      const tested = new LockUnderTest(setup, { traits, external });
      after(() => tested[Symbol.asyncDispose]());
      for (const testCase of [...lockCases, ...stockCases, ...lastLockCases, noResourcesLeft])
        register(testCase, tested);
    } else {
      const tested = new StrategyUnderTest(setup, { traits, external });
      after(() => tested[Symbol.asyncDispose]());
      for (const testCase of [...stockCases, noResourcesLeft]) register(testCase, tested);
    }
  });
}

function register<S extends StrategyUnderTest>(testCase: Case<S>, tested: S): void {
  const { traits } = tested;
  const reason = testCase.notApplicable?.(traits) ?? null;
  const skip = reason === null ? false : `not applicable: ${reason}`;
  it(`${tested.name} ${testCase.name(traits)}`, { skip, timeout: CASE_LIMIT_MS }, () => testCase.run(tested));
}
