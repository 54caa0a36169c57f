import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { checkHistory, type HistoryReport } from "../../lib/history/check-history";
import { type CounterSaleOptions, simulateCounterSale } from "../../lib/history/testing/simulation/counter-sale";
import { type LockSaleOptions, simulateLockSale } from "../../lib/history/testing/simulation/lock-sale";
import { type Mutation, ROW_MUTATIONS } from "../../lib/history/testing/simulation/mutations";
import { type Sale, SeededRandom, toNdjson } from "../../lib/history/testing/simulation/sale";
import { HOLD_MUTATIONS, TICKET_MUTATIONS, TOKEN_MUTATIONS } from "../../lib/history/testing/simulation/time-mutations";

const seed = fc.nat(2 ** 31 - 1);
const buyers = fc.integer({ min: 4, max: 40 });
const initial = fc.nat(25);
const trouble = fc.constantFrom(0, 0.1, 0.5);
const maxQuantity = fc.integer({ min: 1, max: 3 });
const scale = fc.constantFrom(1, 3, 1_000);

const lockSales = fc.record<LockSaleOptions>({
  seed,
  buyers,
  initial,
  hosts: fc.integer({ min: 1, max: 3 }),
  fenced: fc.boolean(),
  trouble,
  maxQuantity,
  scale,
});
const counterSales = fc.record<CounterSaleOptions>({
  seed,
  buyers,
  initial,
  trouble,
  valued: fc.boolean(),
  maxQuantity,
  moments: fc.constantFrom(3, 20, 1_000),
});

const judge = (sale: Sale): Promise<HistoryReport> => checkHistory([toNdjson(sale)]);
const explain = ({ findings }: HistoryReport) =>
  findings.map(({ kind, sentence }) => `${kind}: ${sentence}`).join("\n");

function assertFlawless(judged: HistoryReport): void {
  assert.notEqual(judged.verdict, "unsafe", explain(judged));
  const doubts = judged.findings.filter(({ kind }) => kind !== "fencedOverlap").map(({ kind }) => kind);
  // A sale in which no two met proves nothing; there must be no other doubt.
  assert.deepEqual(doubts, judged.verdict === "safe" ? [] : ["noContention"], explain(judged));
}

describe("a sale in which nothing went wrong", () => {
  it("is never judged unsafe under a lock, whatever its holders, clocks and pauses", async () => {
    await fc.assert(
      fc.asyncProperty(lockSales, async (options) => assertFlawless(await judge(simulateLockSale(options)))),
      { numRuns: 600 },
    );
  });

  it("is never judged unsafe on a counter, whatever was unknown, put back or left unrecorded", async () => {
    await fc.assert(
      fc.asyncProperty(counterSales, async (options) => assertFlawless(await judge(simulateCounterSale(options)))),
      { numRuns: 600 },
    );
  });

  it("loses its verdict, and makes up no violation, when any of its lines is missing", async () => {
    await fc.assert(
      fc.asyncProperty(lockSales, fc.nat(), async (options, which) => {
        const lines = toNdjson(simulateLockSale(options)).trimEnd().split("\n");
        lines.splice(which % lines.length, 1, "torn");
        const { verdict, violations, findings } = await checkHistory([lines.join("\n")]);
        assert.equal(verdict, "inconclusive", findings.map(({ sentence }) => sentence).join("\n"));
        assert.ok(Object.values(violations).every((count) => count === 0));
      }),
      { numRuns: 300 },
    );
  });
});

/** Does the wrong to sales of this kind until some dozens have offered something to do it to. */
async function assertCaught<O>(
  mutation: Mutation,
  sales: { options: fc.Arbitrary<O>; simulate: (options: O) => Sale },
) {
  let applied = 0;
  await fc.assert(
    fc.asyncProperty(sales.options, seed, async (options, mutationSeed) => {
      const sale = sales.simulate(options);
      if (!mutation.apply(sale, new SeededRandom(mutationSeed))) return;
      applied += 1;
      const judged = await judge(sale);
      assert.equal(judged.verdict, "unsafe", explain(judged));
      assert.ok(
        mutation.shows.some((kind) => judged.violations[kind] > 0),
        `none of ${mutation.shows} among\n${explain(judged)}`,
      );
    }),
    { numRuns: 120 },
  );
  assert.ok(applied >= 20, `only ${applied} sales offered anything to do it to`);
}

describe("a wrong done to a history is found", () => {
  const locks = { options: lockSales, simulate: simulateLockSale };
  const counters = { options: counterSales, simulate: simulateCounterSale };
  const unfenced = { ...locks, options: lockSales.map((options) => ({ ...options, fenced: false, hosts: 1 })) };
  const fenced = { ...locks, options: lockSales.map((options) => ({ ...options, fenced: true, hosts: 1 })) };

  for (const mutation of ROW_MUTATIONS) {
    it(`under a lock when ${mutation.name}`, () => assertCaught(mutation, locks));
    it(`on a counter when ${mutation.name}`, () => assertCaught(mutation, counters));
  }
  for (const mutation of TICKET_MUTATIONS) {
    it(`on a counter when ${mutation.name}`, () => assertCaught(mutation, counters));
  }
  for (const mutation of HOLD_MUTATIONS) {
    it(`under a lock when ${mutation.name}`, () => assertCaught(mutation, unfenced));
  }
  for (const mutation of TOKEN_MUTATIONS) {
    it(`under a lock with tokens when ${mutation.name}`, () => assertCaught(mutation, fenced));
  }
});
