import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { overlapsIn } from "../../lib/history/checkers/overlapping-holds";
import { toPorcupine } from "../../lib/history/export-porcupine";
import { parseHistory } from "../../lib/history/parse";
import { simulateLockSale } from "../../lib/history/testing/simulation/lock-sale";
import { type Sale, SeededRandom, toNdjson } from "../../lib/history/testing/simulation/sale";
import { HOLD_MUTATIONS } from "../../lib/history/testing/simulation/time-mutations";
import type { HistoryOpLine } from "../../lib/history/types";
import { runCommand } from "../../servers/commands";
import { buildGoProgram, type GoProgram, skipWithoutGo } from "./go-program";

/**
 * Compares our checker with Porcupine, a linearizability checker of another project, on the same holds. Runs Porcupine through
 * the program that docs/history-format.md documents.
 */

const READER = fileURLToPath(new URL("../../docs/history-examples/porcupine-reader/", import.meta.url));
const EXAMPLES = path.dirname(path.normalize(READER));
const HISTORIES = 200;

/** Runs both checkers: could a mutex have granted the holds? */
type Ask = (histories: readonly Sale[]) => Promise<{ readonly porcupine: boolean; readonly ours: boolean }[]>;

describe("Porcupine and the checker of overlapping holds", { skip: skipWithoutGo }, () => {
  let reader: GoProgram;

  before(async () => {
    reader = await buildGoProgram(READER);
  });
  after(() => reader[Symbol.asyncDispose]());

  const ask: Ask = async (histories) => {
    const parsed = await Promise.all(histories.map((sale) => parseHistory([toNdjson(sale)])));
    const files = await Promise.all(
      parsed.map(async (each, index) => {
        const file = path.join(reader.folder, `${index}.json`);
        await writeFile(file, toPorcupine(each));
        return file;
      }),
    );
    const { stdout, stderr } = await runCommand(reader.binary, files, { timeoutMs: 120_000 });
    const output = stdout.trimEnd().split("\n");
    assert.equal(output.length, files.length, stderr);
    return parsed.map(({ history }, index) => ({
      porcupine: output[index]?.startsWith("a mutex could") ?? false,
      ours: overlapsIn(history).length === 0,
    }));
  };

  it("agree on the two examples of the documentation", async () => {
    const files = ["one-holder", "two-holders"].map((name) => path.join(EXAMPLES, `${name}.porcupine.json`));
    const { stdout, code } = await runCommand(reader.binary, files, { timeoutMs: 60_000 });
    assert.match(stdout, /^a mutex could have .*\nno mutex grants .*\n$/);
    assert.equal(code, 1);
  });

  it("both pass every sale under a correct lock", async (t) => {
    const answers = await ask(samples(t, cleanSales));
    assert.ok(
      answers.every(({ ours, porcupine }) => ours && porcupine),
      summary(answers),
    );
  });

  it("both find a holder that entered during another hold", async (t) => {
    const [overlap] = HOLD_MUTATIONS;
    const sales = samples(t, cleanSales).filter((sale, index) => overlap?.apply(sale, new SeededRandom(index)));
    assert.ok(
      sales.length >= HISTORIES / 2,
      `expected at least ${HISTORIES / 2} sales with two holders, found ${sales.length}`,
    );
    const answers = await ask(sales);
    assert.ok(
      answers.every(({ ours, porcupine }) => !ours && !porcupine),
      summary(answers),
    );
  });

  it("agree on arbitrary holds, including holds that begin and end at the same instant", async (t) => {
    const answers = await ask(samples(t, anyHolds));
    assert.ok(
      answers.every(({ ours, porcupine }) => ours === porcupine),
      summary(answers),
    );
    const clean = answers.filter(({ ours }) => ours).length;
    assert.ok(clean >= 10 && answers.length - clean >= 10, `${clean} of ${answers.length} without an overlap`);
  });
});

/** Holds without tokens at a few instants, so that many coincide. Some are never released. */
const anyHolds: fc.Arbitrary<Sale> = fc
  .array(
    fc.record({ waitNs: fc.nat(30), wait: fc.nat(3), hold: fc.nat(4), end: fc.nat(3), isReleased: fc.boolean() }),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((holds) => {
    const sale = simulateLockSale({ ...QUIET, buyers: 1, seed: 1 });
    const ops = holds.map(({ waitNs, wait, hold, end, isReleased }, index): HistoryOpLine => {
      const [grantedNs, releasedNs] = [waitNs + wait, waitNs + wait + hold];
      const base = { type: "op", opId: `op-${index}`, node: "node-1", host: "h", buyerId: `b-${index}` } as const;
      const times = { invokedNs: `${waitNs}`, waitNs: `${waitNs}`, grantedNs: `${grantedNs}` };
      const seen = isReleased ? { releasedNs: `${releasedNs}`, answeredNs: `${releasedNs + end}` } : {};
      const last = isReleased ? {} : { answeredNs: `${releasedNs}` };
      return { ...base, quantity: 1, outcome: "error", ...times, ...seen, ...last };
    });
    return { ...sale, ops, end: { type: "end", final: sale.run.initial, orders: [], dropped: 0 } };
  });

const QUIET = { initial: 20, hosts: 1, fenced: false, failureRate: 0.1, maxQuantity: 1, scale: 3 } as const;
const cleanSales: fc.Arbitrary<Sale> = fc
  .record({ seed: fc.nat(2 ** 31 - 1), buyers: fc.integer({ min: 5, max: 30 }), scale: fc.constantFrom(1, 3, 1_000) })
  .map((options) => simulateLockSale({ ...QUIET, ...options }));

function samples(t: TestContext, sales: fc.Arbitrary<Sale>): Sale[] {
  const seed = fc.readConfigureGlobal().seed ?? Date.now() % 2 ** 31;
  t.diagnostic(`seed ${seed}`);
  return fc.sample(sales, { seed, numRuns: HISTORIES });
}

function summary(answers: readonly { readonly porcupine: boolean; readonly ours: boolean }[]): string {
  const lines = answers.map(({ ours, porcupine }, index) => `${index}: ours ${ours}, Porcupine ${porcupine}`);
  return lines.join("\n");
}
