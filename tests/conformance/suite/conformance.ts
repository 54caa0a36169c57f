import { after, describe, it } from "node:test";
import { postgresPool } from "../../../lib/services/postgres";
import type { Case } from "./case";
import { lastLockCases, lockCases } from "./lock-cases/index";
import { nothingLeft } from "./nothing-left";
import { stockCases } from "./stock-cases/index";
import { LockUnderTest, StrategyUnderTest } from "./strategy-under-test";
import { foreignEntry, isLock, nameOf, type TestSetup, traitsOf } from "./test-setup";
import { endWorkers } from "./worker-pool";

after(async () => {
  // The rows of the tests are made on this process's own pool, which would keep it alive.
  await postgresPool().end();
  await endWorkers();
});

/** No case may take longer, whatever the strategy under test does. */
const CASE_LIMIT_MS = 90_000;

export type ConformanceOptions = Omit<TestSetup, "strategyId">;

/**
 * Registers every case that applies to the strategy with node:test: those of a lock, where it is one, and those of a
 * stock strategy. Which apply, and what is to be seen, follows from its traits. Cases that do not apply are skipped and say why.
 */
export async function conformance(strategyId: string, options: ConformanceOptions = {}): Promise<void> {
  const plug: TestSetup = { strategyId, ...options };
  const foreign = await foreignEntry(plug);
  const traits = traitsOf(plug, foreign);
  describe(nameOf(plug), () => {
    if (isLock(plug)) {
      const subject = new LockUnderTest(plug, { traits, foreign });
      after(() => subject[Symbol.asyncDispose]());
      for (const one of [...lockCases, ...stockCases, ...lastLockCases, nothingLeft]) register(one, subject);
    } else {
      const subject = new StrategyUnderTest(plug, { traits, foreign });
      after(() => subject[Symbol.asyncDispose]());
      for (const one of [...stockCases, nothingLeft]) register(one, subject);
    }
  });
}

function register<S extends StrategyUnderTest>(one: Case<S>, subject: S): void {
  const { traits } = subject;
  const reason = one.notApplicable?.(traits) ?? null;
  const skip = reason === null ? false : `not applicable: ${reason}`;
  it(`${subject.name} ${one.name(traits)}`, { skip, timeout: CASE_LIMIT_MS }, () => one.run(subject));
}
