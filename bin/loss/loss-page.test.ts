import assert from "node:assert/strict";
import { it } from "node:test";
import type { LossMeasurement } from "./loss-measurement";
import { lossPage } from "./loss-page";

const loss = (toSignalMs: number): LossMeasurement => ({
  how: "the key is deleted",
  against: "lease",
  againstMs: 3_000,
  share: 1 / 3,
  toSignalMs,
  wasSignalledFirst: null,
});

it("shows the median time, the range and the share of the lease", () => {
  const series = [{ strategyId: "redis-lock", losses: [1_020, 980, 1_100, 990].map(loss) }];
  const page = lossPage({ series, repeats: 4, ttlMs: 3_000, commit: "abc" });
  const row = "| `redis-lock` | the key is deleted | 1005 (980 to 1100) | lease, 3000 ms | 34 % | 33 % |";
  assert.ok(page.split("\n").includes(row), page);
});
