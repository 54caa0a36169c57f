import type { StrategyTraits } from "../../../lib/locks/types";
import type { LockUnderTest, StrategyUnderTest } from "./strategy-under-test";

/** One property and its test. */
export interface Case<S extends StrategyUnderTest> {
  /** In the present tense. If the traits declare a flaw, the name describes the flaw. */
  name(traits: StrategyTraits): string;
  /** The reason why the case does not apply to a strategy with these traits, or null. */
  notApplicable?(traits: StrategyTraits): string | null;
  run(tested: S): Promise<void>;
}

export type LockCase = Case<LockUnderTest>;
export type StockCase = Case<StrategyUnderTest>;

export const isSafe = ({ expected }: StrategyTraits) => expected.threeNodes === "safe";
export const isSafeAlone = ({ expected }: StrategyTraits) => expected.alone === "safe";
/** Most cases do not apply to a strategy without a server. */
export const withoutServer = ({ needs }: StrategyTraits) =>
  needs.length === 0 ? "it has no server and works only within one process" : null;
export const withoutExclusion = (traits: StrategyTraits) =>
  isSafeAlone(traits) ? null : "its traits declare that it does not exclude other callers";
