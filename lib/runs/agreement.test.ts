import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { emptyPercentiles } from "../node/figures";
import { agreementOf, starvedWords } from "./agreement";
import type { ClientReport } from "./document";
import { clientReport, runDocument } from "./testing/run-fixture";

const server = (p50: number, p99: number, buyers = 500) => {
  const document = runDocument({ latencyMs: { ...emptyPercentiles, p50, p99 } });
  return { ...document, config: { ...document.config, vus: buyers } };
};
const client = (p50: number, p99: number, changes: Partial<ClientReport> = {}) =>
  clientReport({ latencyMs: { ...emptyPercentiles, p50, p99 }, generatorLagP99Ms: 100, ...changes });
const flagsOf = (...args: Parameters<typeof agreementOf>) => agreementOf(...args).flags;

describe("agreementOf", () => {
  it("finds nothing to flag in what two busy cores measured: figures of real runs of none, sql-guarded and zk-mutex", () => {
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

  it("calls a generator starved that was later than its buyers, all at once, can make it", () => {
    const isLate = (buyers: number, generatorLagP99Ms: number) =>
      agreementOf(server(100, 200, buyers), client(150, 9_000, { generatorLagP99Ms })).isStarved;
    assert.deepEqual([isLate(500, 2_000), isLate(500, 2_001)], [false, true]);
    assert.deepEqual([isLate(2_000, 4_000), isLate(2_000, 4_001)], [false, true]);
    const byRate = { ...server(100, 200), config: { ...server(100, 200).config, vus: null, rate: 5_000 } };
    assert.equal(agreementOf(byRate, client(150, 9_000, { generatorLagP99Ms: 2_001 })).isStarved, true);
  });

  it("calls a generator starved that had all of the processor and was slower than anything explains", () => {
    const isShort = (used: number | undefined, spare: number | undefined, p99 = 2_000) =>
      agreementOf(server(100, 200), client(150, p99, { generatorCpuPercent: used, generatorSparePercent: spare }))
        .isStarved;
    assert.equal(isShort(110, 5), true, "the rest went to others, and nothing was left");
    assert.equal(isShort(110, 30), false, "it could have had more");
    assert.equal(isShort(110, 5, 750), false, "busy, and as fast as the nodes and the network allow");
    assert.equal(isShort(110, undefined), false, "its own word, without the machine's");
    assert.equal(isShort(undefined, undefined), false);
  });

  it("says of both why", () => {
    const document = server(100, 200);
    assert.equal(
      starvedWords(document, client(150, 4_000, { generatorLagP99Ms: 3_100, generatorCpuPercent: 12 })),
      "The load generator was starved: it sent purchases up to 3.1 s late (p99; 2.0 s are allowed), using 12% of a core, so this was not the rush that was asked for.",
    );
    assert.equal(
      starvedWords(document, client(150, 4_000, { generatorCpuPercent: 190 })),
      "The load generator was starved: it had all of the processor that was left to it, using 190% of a core, and buyers waited longer than the nodes, its lateness and the network explain.",
    );
  });
});
