import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { checkHistory, checkParsedHistory, type HistoryReport } from "../../lib/history/check-history";
import { isDoubt } from "../../lib/history/finding";
import { makeHistory } from "../../lib/history/history";
import { readOperations, timesOutOfOrder } from "../../lib/history/operation";
import { counterSales, lockSales, seeds } from "../../lib/history/testing/random-sales";
import { simulateCounterSale } from "../../lib/history/testing/simulation/counter-sale";
import { simulateLockSale } from "../../lib/history/testing/simulation/lock-sale";
import { type Mutation, ROW_MUTATIONS } from "../../lib/history/testing/simulation/mutations";
import { type Sale, SeededRandom, toNdjson } from "../../lib/history/testing/simulation/sale";
import { HOLD_MUTATIONS, TICKET_MUTATIONS, TOKEN_MUTATIONS } from "../../lib/history/testing/simulation/time-mutations";

/** Without parsing, which takes most of the time of a check. The torn-line test covers the text form. */
function check({ run, ops, end }: Sale): HistoryReport {
  const operations = readOperations(ops);
  assert.ok(!operations.some(timesOutOfOrder), "expected the times of every operation in order");
  const history = makeHistory({ run, ops: operations, faults: [], end, isComplete: true });
  return checkParsedHistory({ run, end, history, doubts: [], lines: ops.length + 2 });
}

const explain = ({ findings }: HistoryReport) =>
  findings.map(({ kind, sentence }) => `${kind}: ${sentence}`).join("\n");

function assertNoViolation(report: HistoryReport): void {
  assert.notEqual(report.verdict, "unsafe", explain(report));
  const doubts = report.findings.filter(isDoubt).map(({ kind }) => kind);
  // Without concurrent purchases the sale is inconclusive; there must be no other doubt.
  assert.deepEqual(doubts, report.verdict === "safe" ? [] : ["noContention"], explain(report));
}

describe("a correct sale", () => {
  it("is never unsafe under a lock, for any holders, clocks and pauses", () => {
    fc.assert(
      fc.property(lockSales, (options) => assertNoViolation(check(simulateLockSale(options)))),
      { numRuns: 600 },
    );
  });

  it("is never unsafe on a counter, for any unknown, given-back or unrecorded purchases", () => {
    fc.assert(
      fc.property(counterSales, (options) => assertNoViolation(check(simulateCounterSale(options)))),
      { numRuns: 600 },
    );
  });

  it("becomes inconclusive, without violations, if any line is missing", async () => {
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

/** Applies the mutation to random sales and requires that each mutated history is unsafe. */
function assertUnsafe<O>(mutation: Mutation, sales: { options: fc.Arbitrary<O>; simulate: (options: O) => Sale }) {
  let applied = 0;
  fc.assert(
    fc.property(sales.options, seeds, (options, mutationSeed) => {
      const sale = sales.simulate(options);
      if (!mutation.apply(sale, new SeededRandom(mutationSeed))) return;
      applied += 1;
      const report = check(sale);
      assert.equal(report.verdict, "unsafe", explain(report));
      assert.ok(
        mutation.expectedKinds.some((kind) => report.violations[kind] > 0),
        `expected a violation of ${mutation.expectedKinds.join(" or ")}, found:\n${explain(report)}`,
      );
    }),
    { numRuns: 120 },
  );
  assert.ok(applied >= 20, `expected the mutation to apply to 20 sales or more, found ${applied}`);
}

describe("a mutated history is unsafe", () => {
  const locks = { options: lockSales, simulate: simulateLockSale };
  const counters = { options: counterSales, simulate: simulateCounterSale };
  const unfenced = { ...locks, options: lockSales.map((options) => ({ ...options, fenced: false, hosts: 1 })) };
  const fenced = { ...locks, options: lockSales.map((options) => ({ ...options, fenced: true, hosts: 1 })) };

  for (const mutation of ROW_MUTATIONS) {
    it(`under a lock if ${mutation.name}`, () => assertUnsafe(mutation, locks));
    it(`on a counter if ${mutation.name}`, () => assertUnsafe(mutation, counters));
  }
  for (const mutation of TICKET_MUTATIONS) {
    it(`on a counter if ${mutation.name}`, () => assertUnsafe(mutation, counters));
  }
  for (const mutation of HOLD_MUTATIONS) {
    it(`under a lock if ${mutation.name}`, () => assertUnsafe(mutation, unfenced));
  }
  for (const mutation of TOKEN_MUTATIONS) {
    it(`under a lock with tokens if ${mutation.name}`, () => assertUnsafe(mutation, fenced));
  }
});
