import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { targetTerms } from "./terms";
import { FakeTimers } from "./testing/fake-timers";
import { useFakes } from "./testing/use-fakes";

const TERMS = /FROM products WHERE id/;
const ROW = {
  limitPerBuyer: 1,
  stockOn: "order",
  paymentWindowMs: null,
  requiresPurchaseToken: false,
  opensAtEpochMs: null,
};
let lastId = 0;

/** A product that the process-wide cache does not hold yet. */
function nextProduct() {
  lastId += 1;
  return { kind: "product", id: lastId } as const;
}

describe("targetTerms", () => {
  const fakes = useFakes();
  const countQueries = () => fakes.postgres.sent(TERMS).length;

  it("shares one query among concurrent calls", async () => {
    const product = nextProduct();
    fakes.postgres.script(TERMS, [ROW]);
    const [first, second] = await Promise.all([targetTerms(product), targetTerms(product)]);
    assert.deepEqual([first, second, countQueries()], [ROW, ROW, 1]);
  });

  it("caches terms for one second, and for 30 seconds in a run", async () => {
    const product = nextProduct();
    fakes.postgres.script(TERMS, [ROW]);
    using timers = new FakeTimers();
    await targetTerms(product);
    timers.advance(999);
    await targetTerms(product);
    assert.equal(countQueries(), 1);
    timers.advance(2);
    await targetTerms(product, true);
    assert.equal(countQueries(), 1);
    await targetTerms(product);
    assert.equal(countQueries(), 2);
    timers.advance(30_001);
    await targetTerms(product, true);
    assert.equal(countQueries(), 3);
  });

  it("does not cache that a target does not exist", async () => {
    const product = nextProduct();
    fakes.postgres.script(TERMS, [], [ROW]);
    assert.equal(await targetTerms(product), null);
    assert.deepEqual(await targetTerms(product), ROW);
  });

  it("fails as backend_unavailable, and does not cache the failure", async () => {
    const product = nextProduct();
    fakes.postgres.script(TERMS, new Error("connection refused"), [ROW]);
    await assert.rejects(targetTerms(product), { code: "backend_unavailable", isDefinite: true });
    assert.deepEqual(await targetTerms(product), ROW);
  });
});
