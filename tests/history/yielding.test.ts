import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkHistory } from "../../lib/history/check-history";
import { toNdjson } from "../../lib/history/testing/simulation/sale";
import { checkYielding, piecesOf, SALES } from "./check-benchmark";

describe("a check that yields to the event loop", () => {
  for (const [name, makeSale] of Object.entries(SALES)) {
    it(`gives the same report as one that does not: ${name}`, async () => {
      const sale = makeSale(2_000);
      assert.deepEqual(await checkYielding(piecesOf(sale)), await checkHistory([toNdjson(sale)]));
    });
  }
});
