import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkHistory } from "../../lib/history/check-history";
import { toNdjson } from "../../lib/history/testing/simulation/sale";
import { judgeInTurns, piecesOf, SALES, stretchesOf } from "./check-benchmark";

/** The longest stretch may take this share of the whole; judging in one go takes a third. */
const MOST = 0.15;
const OPERATIONS = 40_000;
/** What else runs on the machine blurs a measurement; work that holds the event loop fails all of them. */
const ATTEMPTS = 5;

describe("judging a history in turns", () => {
  for (const [name, make] of Object.entries(SALES)) {
    it(`never holds the event loop for long: ${name}`, async () => {
      const sale = make(OPERATIONS);
      const shares: number[] = [];
      while (shares.length < ATTEMPTS && !shares.some((share) => share <= MOST)) {
        const { longestCpuMs, wholeCpuMs } = await stretchesOf(sale);
        shares.push(longestCpuMs / wholeCpuMs);
      }
      const tried = shares.map((share) => share.toFixed(2)).join(", ");
      assert.ok(
        shares.some((share) => share <= MOST),
        `${tried} of the whole in one stretch`,
      );
    });

    it(`says what judging in one go says: ${name}`, async () => {
      const sale = make(2_000);
      assert.deepEqual(await judgeInTurns(piecesOf(sale)), await checkHistory([toNdjson(sale)]));
    });
  }
});
