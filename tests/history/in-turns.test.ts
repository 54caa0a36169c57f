import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkHistory } from "../../lib/history/check-history";
import { toNdjson } from "../../lib/history/testing/simulation/sale";
import { checkYielding, measureBlocking, piecesOf, SALES } from "./check-benchmark";

/** The largest share of the total CPU time in one block. A check that does not yield has a block of a third. */
const MAX_SHARE = 0.15;
const OPERATIONS = 40_000;
/** Other load on the machine can spoil a measurement. Work that blocks the event loop fails every attempt. */
const ATTEMPTS = 5;

describe("checking a history for a run's page", () => {
  for (const [name, makeSale] of Object.entries(SALES)) {
    it(`yields to the event loop: ${name}`, async () => {
      const sale = makeSale(OPERATIONS);
      const shares: number[] = [];
      while (shares.length < ATTEMPTS && !shares.some((share) => share <= MAX_SHARE)) {
        const { longestBlockCpuMs, totalCpuMs } = await measureBlocking(sale);
        shares.push(longestBlockCpuMs / totalCpuMs);
      }
      const found = shares.map((share) => share.toFixed(2)).join(", ");
      assert.ok(
        shares.some((share) => share <= MAX_SHARE),
        `expected a longest block of at most ${MAX_SHARE} of the CPU time, found ${found}`,
      );
    });
  }
});

describe("a check that yields to the event loop", () => {
  for (const [name, makeSale] of Object.entries(SALES)) {
    it(`gives the same report as one that does not: ${name}`, async () => {
      const sale = makeSale(2_000);
      assert.deepEqual(await checkYielding(piecesOf(sale)), await checkHistory([toNdjson(sale)]));
    });
  }
});
