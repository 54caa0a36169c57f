import assert from "node:assert/strict";
import { it } from "node:test";
import type { LossMeasurement } from "../../tests/conformance/suite/measure-loss";
import { lossPage } from "./loss-page";

const breaker = {
  how: "the key is deleted",
  needsRelay: false,
  against: "lease",
  share: 1 / 3,
  breakHold: async () => 0,
} as const;
const loss = (toSignalMs: number): LossMeasurement => ({ breaker, toSignalMs, againstMs: 3_000, toldBeforeNext: null });

it("gives the median of the times, their spread, and their share of the lease", () => {
  const series = [{ strategyId: "redis-lock", losses: [1_020, 980, 1_100, 990].map(loss) }];
  const page = lossPage({ series, repeats: 4, ttlMs: 3_000, commit: "abc" });
  const row = "| `redis-lock` | the key is deleted | 1005 (980 to 1100) | lease, 3000 ms | 34 % | 33 % |";
  assert.ok(page.split("\n").includes(row), page);
});
