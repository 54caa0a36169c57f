import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { recordedCommands } from "./recorded-commands";
import { stockStrategies } from "./stock-strategies";

const RECORD = "Record it: npm run lab -- record-commands";

describe("the recorded commands", () => {
  for (const { traits } of stockStrategies.values()) {
    const { id, needs, kind, expected } = traits;
    it(`show two purchases under ${id}`, () => {
      const recording = recordedCommands.strategies[id];
      assert.ok(recording, `${id} has no recording. ${RECORD}`);
      assert.deepEqual(
        recording.purchases.map(({ buyer, outcome, hold }) => [buyer, outcome, hold !== null]),
        [
          ["A", "sold", kind === "lock"],
          ["B", "sold", kind === "lock"],
        ],
      );
      const used = new Set(recording.steps.map(({ server }) => server));
      assert.deepEqual(
        [...used].sort(),
        [...new Set([...needs, "postgres"])].sort(),
        `expected commands to every server. ${RECORD}`,
      );
      const fell = recording.stock.before - recording.stock.after;
      if (expected.threeNodes === "safe") assert.equal(fell, 2, `${id}: expected the stock to fall by 2`);
    });
  }

  it("show the lost update of the strategies without a shared lock", () => {
    for (const id of ["none", "local-mutex"]) {
      const { stock } = recordedCommands.strategies[id] ?? {};
      assert.equal(stock && stock.before - stock.after, 1, `${id}: expected one of two updates to be lost`);
    }
  });

  it("show that a decrement without a condition sells a unit that does not exist", () => {
    assert.deepEqual(recordedCommands.strategies["sql-decrement"]?.stock, { before: 1, after: -1 });
  });

  it("have the source of every script that they call", () => {
    const { scripts, strategies } = recordedCommands;
    for (const [sha1, source] of Object.entries(scripts)) {
      assert.equal(createHash("sha1").update(source).digest("hex"), sha1);
    }
    const called = Object.values(strategies).flatMap(({ steps }) =>
      steps.flatMap((step) => (step.kind === "command" && step.script !== undefined ? [step.script] : [])),
    );
    assert.ok(called.length > 0);
    for (const sha1 of called) assert.ok(scripts[sha1], `the script ${sha1} has no source. ${RECORD}`);
  });
});
