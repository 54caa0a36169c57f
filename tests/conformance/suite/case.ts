import type { StrategyTraits } from "../../../lib/locks/types";
import type { LockUnderTest, StrategyUnderTest } from "./strategy-under-test";

/** One property, and how to see whether it holds. */
export interface Case<S extends StrategyUnderTest> {
  /** In the present tense; where the traits declare a flaw, what is seen instead. */
  name(traits: StrategyTraits): string;
  /** Why the traits leave nothing to test here. */
  notApplicable?(traits: StrategyTraits): string | null;
  run(subject: S): Promise<void>;
}

export type LockCase = Case<LockUnderTest>;
export type StockCase = Case<StrategyUnderTest>;

export const isSafe = ({ expected }: StrategyTraits) => expected.threeNodes === "safe";
export const isSafeAlone = ({ expected }: StrategyTraits) => expected.alone === "safe";
/** Why most cases do not apply to a strategy without a server. */
export const withoutServer = ({ needs }: StrategyTraits) =>
  needs.length === 0 ? "it has no server, and reaches no further than its process" : null;
export const withoutExclusion = (traits: StrategyTraits) =>
  isSafeAlone(traits) ? null : "its traits say that it keeps nobody out";
