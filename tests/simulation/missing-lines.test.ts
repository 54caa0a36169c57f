import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import fc from "fast-check";
import { checkHistory } from "../../lib/history/check-history";
import { counterSales, lockSales } from "../../lib/history/testing/random-sales";
import { simulateCounterSale } from "../../lib/history/testing/simulation/counter-sale";
import { simulateLockSale } from "../../lib/history/testing/simulation/lock-sale";
import type { Sale } from "../../lib/history/testing/simulation/sale";

const CASES = new URL("../history/cases/", import.meta.url);
const SAFE_CASES = readdirSync(CASES).filter((file) => file.startsWith("clean-"));
const linesOf = (file: string) => readFileSync(new URL(file, CASES), "utf8").trimEnd().split("\n");

async function assertInconclusive(lines: readonly string[], where: string): Promise<void> {
  const { verdict, violations, findings } = await checkHistory([lines.join("\n")]);
  const sentences = findings.map(({ sentence }) => sentence).join("\n");
  assert.equal(verdict, "inconclusive", `${where}\n${sentences}`);
  assert.ok(
    Object.values(violations).every((count) => count === 0),
    `${where}: expected no violation, found:\n${sentences}`,
  );
}

/** The sale without the operations at the positions `removed`, reported as dropped by the recorder. */
function withoutOps({ run, ops, end }: Sale, removed: ReadonlySet<number>): string[] {
  const kept = ops.filter((_, index) => !removed.has(index));
  return [run, ...kept, { ...end, dropped: ops.length - kept.length }].map((line) => JSON.stringify(line));
}

function dropsAreNeverUnsafe<O>(options: fc.Arbitrary<O>, simulate: (options: O) => Sale) {
  const removals = fc.array(fc.nat(39), { minLength: 1, maxLength: 39 });
  return fc.assert(
    fc.asyncProperty(options, removals, async (sale, positions) => {
      const simulated = simulate(sale);
      const removed = new Set(positions.map((position) => position % simulated.ops.length));
      await assertInconclusive(withoutOps(simulated, removed), `without operations ${[...removed]}`);
    }),
    { numRuns: 400 },
  );
}

describe("a sound history with missing lines is inconclusive and never unsafe", () => {
  for (const file of SAFE_CASES) {
    it(`for every set of torn lines of ${file}`, async () => {
      const lines = linesOf(file);
      for (let torn = 1; torn < 2 ** lines.length; torn += 1) {
        const damaged = lines.map((line, index) => ((torn >> index) & 1 ? "torn" : line));
        await assertInconclusive(damaged, `torn lines ${torn.toString(2)} (binary, last line first)`);
      }
    });
  }

  it("for any set of dropped operations of a sale under a lock", () =>
    dropsAreNeverUnsafe(lockSales, simulateLockSale));

  it("for any set of dropped operations of a sale on a counter with give-backs", () =>
    dropsAreNeverUnsafe(counterSales, simulateCounterSale));
});

describe("a possible violation in an incomplete history", () => {
  it("is listed as a doubt that names the purchases", async () => {
    const lines = linesOf("clean-unit-given-back.ndjson").filter((line) => !line.includes('"op-1"'));
    const dropped = lines.map((line) => line.replace('"dropped":0', '"dropped":1'));
    const { findings } = await checkHistory([dropped.join("\n")]);
    assert.deepEqual(
      findings.map(({ kind }) => kind),
      ["droppedOperations", "unprovenViolation"],
    );
    assert.match(findings[1]?.sentence ?? "", /^node-3 sold to buyer-3 .* A missing line could explain this\.$/);
  });

  it("stays a violation if the totals prove it", async () => {
    const lines = linesOf("oversold-beside-dropped-operations.ndjson");
    assert.equal((await checkHistory([lines.join("\n")])).verdict, "unsafe");
  });
});
