import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runDocument } from "../../tests/support/run-fixture";
import { agreementOf } from "./agreement";
import type { ClientReport } from "./document";
import { emptyPercentiles } from "./percentiles";

const server = (p50: number, p99: number) => runDocument({ latencyMs: { ...emptyPercentiles, p50, p99 } });
function client(p50: number, p99: number, changes: Partial<ClientReport> = {}): ClientReport {
  return {
    engine: "test",
    iterations: 500,
    droppedIterations: 0,
    failedRequests: 0,
    arrivalSkewMs: 10,
    latencyMs: { ...emptyPercentiles, p50, p99 },
    generatorLagP99Ms: 100,
    ...changes,
  };
}
const flagsOf = (...args: Parameters<typeof agreementOf>) => agreementOf(...args).flags;

describe("agreementOf", () => {
  it("finds nothing to flag in what two busy cores measured: figures of real runs of none, sql-guarded and zk-mutex", () => {
    const real: [number, number, number, number, number][] = [
      [1_901, 2_081, 2_121, 2_862, 418],
      [196, 430, 438, 482, 289],
      [10_093, 10_224, 10_168, 10_951, 421],
      [10_027, 10_093, 11_811, 14_184, 3_430],
    ];
    for (const [p50, p99, seen50, seen99, lag] of real) {
      const agreement = agreementOf(server(p50, p99), client(seen50, seen99, { generatorLagP99Ms: lag }));
      assert.deepEqual([agreement.flags, agreement.isStarved], [[], false], `${p50} ${p99} ${seen50} ${seen99}`);
    }
  });

  it("flags buyers who waited longer than nodes, network and a late generator explain", () => {
    const { gaps, flags } = agreementOf(server(100, 200), client(150, 2_000));
    assert.deepEqual(
      gaps.map(({ unexplainedMs }) => unexplainedMs),
      [0, 2_000 - 200 - 100 - 500],
    );
    assert.deepEqual(flags, [
      "At p99 buyers waited 2000 ms and the nodes say 200 ms: 1200 ms more than the generator's lateness (100 ms) and the network explain.",
    ]);
  });

  it("flags answers that came before they were made", () => {
    assert.match(
      flagsOf(server(500, 900), client(300, 890)).join(" "),
      /^At p50 the nodes say 500 ms and buyers only 300/,
    );
    assert.deepEqual(flagsOf(server(500, 900), client(480, 880)), []);
  });

  it("flags purchases that only one side knows of, in either direction", () => {
    for (const iterations of [499, 501]) {
      assert.match(
        flagsOf(server(10, 20), client(10, 20, { iterations })).join(" "),
        /sent \d+ purchases, the nodes counted 500/,
      );
    }
  });

  it("does not compare latencies when some purchases got no answer", () => {
    assert.deepEqual(agreementOf(server(100, 200), client(150, 2_000, { failedRequests: 1 })).gaps, []);
  });

  it("calls a generator starved when most of its latency is its own lateness, and that is seconds", () => {
    const lagging = (generatorLagP99Ms: number, p99: number) =>
      agreementOf(server(100, 200), client(150, p99, { generatorLagP99Ms })).isStarved;
    assert.equal(lagging(2_500, 4_000), true);
    assert.equal(lagging(2_500, 6_000), false);
    assert.equal(lagging(1_500, 1_600), false);
  });
});
