import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { emptyPercentiles } from "../node/figures";
import { agreementOf, fellBehindSentence } from "./agreement";
import type { ClientReport } from "./client-report";
import { clientReport, runDocument } from "./testing/run-fixture";

const server = (p50: number, p99: number, buyers = 500) => {
  const document = runDocument({ latencyMs: { ...emptyPercentiles, p50, p99 } });
  return { ...document, config: { ...document.config, vus: buyers } };
};
const client = (p50: number, p99: number, changes: Partial<ClientReport> = {}) =>
  clientReport({ latencyMs: { ...emptyPercentiles, p50, p99 }, generatorLagP99Ms: 100, ...changes });
const flagsOf = (...args: Parameters<typeof agreementOf>) => agreementOf(...args).flags;

describe("agreementOf", () => {
  it("flags nothing in real runs of none, sql-guarded and zk-mutex on two busy cores", () => {
    const real: [number, number, number, number, number, number][] = [
      [500, 1_901, 2_081, 2_121, 2_862, 418],
      [500, 196, 430, 438, 482, 289],
      [500, 10_093, 10_224, 10_168, 10_951, 421],
      [2_000, 10_027, 10_093, 11_811, 14_184, 3_430],
      [2_000, 1_597, 1_958, 2_312, 3_434, 812],
    ];
    for (const [buyers, p50, p99, seen50, seen99, lag] of real) {
      const busy = { generatorLagP99Ms: lag, generatorCpuPercent: 143, generatorSparePercent: 0 };
      const agreement = agreementOf(server(p50, p99, buyers), client(seen50, seen99, busy));
      assert.deepEqual([agreement.flags, agreement.isStarved], [[], false], `${p50} ${p99} ${seen50} ${seen99}`);
    }
  });

  it("flags buyers who waited longer than the nodes, the network and the generator's delay explain", () => {
    const { gaps, flags } = agreementOf(server(100, 200), client(150, 2_000));
    assert.deepEqual(
      gaps.map(({ unexplainedMs }) => unexplainedMs),
      [0, 2_000 - 200 - 100 - 500],
    );
    assert.deepEqual(flags, [
      "At p99, buyers waited 2.00 s but the nodes measured 200 ms: 1.20 s more than the generator's delay (100 ms) and the network explain.",
    ]);
  });

  it("flags buyers who waited less than the nodes measured", () => {
    assert.match(
      flagsOf(server(500, 900), client(300, 890)).join(" "),
      /^At p50, the nodes measured 500 ms but buyers only 300 ms: an answer cannot arrive/,
    );
    assert.deepEqual(flagsOf(server(500, 900), client(480, 880)), []);
  });

  it("flags a different number of purchases on the two sides", () => {
    for (const iterations of [499, 501]) {
      assert.match(
        flagsOf(server(10, 20), client(10, 20, { iterations })).join(" "),
        /sent \d+ purchases, but the nodes counted 500/,
      );
    }
  });

  it("does not compare latencies if some purchases got no answer", () => {
    assert.deepEqual(agreementOf(server(100, 200), client(150, 2_000, { failedRequests: 1 })).gaps, []);
  });

  it("says that a generator fell behind if it was later than the limit, which grows with the buyers who start together", () => {
    const isLate = (buyers: number, generatorLagP99Ms: number) =>
      agreementOf(server(100, 200, buyers), client(150, 9_000, { generatorLagP99Ms })).isStarved;
    assert.deepEqual([isLate(500, 2_000), isLate(500, 2_001)], [false, true]);
    assert.deepEqual([isLate(2_000, 4_000), isLate(2_000, 4_001)], [false, true]);
    const byRate = { ...server(100, 200), config: { ...server(100, 200).config, vus: null, rate: 5_000 } };
    assert.equal(agreementOf(byRate, client(150, 9_000, { generatorLagP99Ms: 2_001 })).isStarved, true);
  });

  it("says that a generator fell behind if it had no CPU time left and buyers waited for no other known reason", () => {
    const isShort = (used: number | undefined, spare: number | undefined, p99 = 2_000) =>
      agreementOf(server(100, 200), client(150, p99, { generatorCpuPercent: used, generatorSparePercent: spare }))
        .isStarved;
    assert.equal(isShort(110, 5), true, "no CPU time was left");
    assert.equal(isShort(110, 30), false, "CPU time was left");
    assert.equal(isShort(110, 5, 750), false, "busy, but as fast as the nodes and the network allow");
    assert.equal(isShort(110, undefined), false, "the machine's idle time is not known");
    assert.equal(isShort(undefined, undefined), false);
  });

  it("gives the reason for both", () => {
    const document = server(100, 200);
    assert.equal(
      fellBehindSentence(document, client(150, 4_000, { generatorLagP99Ms: 3_100, generatorCpuPercent: 12 })),
      "The load generator fell behind: it sent purchases up to 3.10 s late (p99, limit 2 s) and used 12 % of a core, so the run did not get the load that was requested.",
    );
    assert.equal(
      fellBehindSentence(document, client(150, 4_000, { generatorCpuPercent: 190 })),
      "The load generator fell behind: it had no CPU time left and used 190 % of a core, and buyers waited longer than the nodes, its delay and the network explain.",
    );
  });
});
