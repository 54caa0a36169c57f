import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkHistory } from "../../../lib/history/check-history";
import { parseHistory } from "../../../lib/history/parse";
import { phaseDurationsOf } from "../../../lib/history/phases";
import { emptyPercentiles } from "../../../lib/node/figures";
import type { RunDocument } from "../../../lib/runs/document";
import { historyLines } from "../../../lib/runs/history-export";
import { readSamples } from "../../../lib/runs/queries";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { findProduct } from "../../../lib/shop/queries";
import { splitStock } from "../../../lib/stock/buckets";
import { stockStrategies } from "../../../lib/stock/stock-strategies";
import { requireEnv, setEnv } from "../../support/lab-env";
import { makeProduct, productFacts } from "../../support/rows";
import { clientReport, setUpRunLab } from "../../support/run-lab";

requireEnv("DATABASE_URL");
setEnv({ STORE_NODE: "node-1", LOCK_STRATEGY: "sql-guarded" });

const BUYERS = 24;
const STOCK = 10;
/** Long enough that all buyers read before the first one writes, even on a busy machine. */
const LONG_HOLD_MS = 500;

const client = clientReport(BUYERS, { ...emptyPercentiles, p50: 5, max: 9 });

const sqlStrategies = [...stockStrategies.values()]
  .map(({ traits }) => traits)
  .filter(({ family }) => family === "sql");

/** Phases do not overlap, so their sum is at most the duration of the purchase. */
async function assertPhasesDisjoint(document: RunDocument): Promise<void> {
  const { history } = await parseHistory(historyLines(document));
  assert.equal(history.ops.length, BUYERS);
  for (const op of history.ops) {
    const phasesMs = phaseDurationsOf(op).reduce((sum, [, phaseMs]) => sum + phaseMs, 0);
    const durationMs = ((op.answeredNs ?? Number.NaN) - op.invokedNs) / 1e6;
    // Waits are stored in whole microseconds.
    assert.ok(
      phasesMs <= durationMs + 0.005,
      `${op.opId}: expected phases of at most ${durationMs} ms, found ${phasesMs} ms`,
    );
  }
}

describe("runs of the SQL strategies", () => {
  const here = setUpRunLab();

  const open = (strategy: string, fields: object = {}) =>
    here.lab.open(runRequestSchema.parse({ strategy, stock: STOCK, vus: BUYERS, holdMs: 2, ...fields }));

  async function sell(run: RunDocument, buyers: number): Promise<void> {
    const answers = await Promise.all(Array.from({ length: buyers }, (_, buyer) => here.buyIn(run, `buyer-${buyer}`)));
    const statuses = answers.map(({ status }) => status);
    assert.ok(
      statuses.every((status) => status === 201 || status === 409),
      `${statuses}`,
    );
  }

  for (const { id, expected } of sqlStrategies) {
    for (const kind of ["product", "coupon"] as const) {
      it(`${id} is ${expected.alone} on a ${kind}, by the run and by its exported history`, async () => {
        const holdMs = expected.alone === "unsafe" ? LONG_HOLD_MS : 2;
        const opened = await open(id, { target: { kind }, holdMs });
        await sell(opened, BUYERS);
        const document = await here.lab.finish(opened.id, { client, awaitClientReport: false });
        assert.equal(document.verdict, expected.alone, document.sentences.join(" "));
        await assertPhasesDisjoint(document);
        const report = await checkHistory(historyLines(document));
        assert.equal(report.verdict, expected.alone, JSON.stringify(report.findings));
        assert.deepEqual(report.violations, document.violations);
        if (expected.alone === "safe") assert.deepEqual(document.stock, { initial: STOCK, final: 0, orders: STOCK });
      });
    }
  }

  it("sql-decrement has a negative stock but no lost update", async () => {
    const opened = await open("sql-decrement", { holdMs: LONG_HOLD_MS });
    await sell(opened, BUYERS);
    const { violations, stock } = await here.lab.finish(opened.id, { client, awaitClientReport: false });
    assert.ok(stock.final < 0);
    assert.deepEqual(
      [violations.negativeStock, violations.oversold, violations.lostUpdates],
      [-stock.final, -stock.final, 0],
    );
  });

  it("sql-buckets shows the whole stock during the run, and returns unsold units to the row", async () => {
    const target = { kind: "product" as const, id: await makeProduct(1) };
    const opened = await open("sql-buckets", { target });
    assert.equal((await productFacts(target.id)).stock, 0);
    assert.equal((await findProduct(target.id))?.stock, STOCK);
    await sell(opened, 6);
    assert.equal((await findProduct(target.id))?.stock, STOCK - 6);
    const document = await here.lab.finish(opened.id, {
      client: clientReport(6, client.latencyMs),
      awaitClientReport: false,
    });
    assert.deepEqual(document.stock, { initial: STOCK, final: STOCK - 6, orders: 6 });
    assert.equal((await readSamples(opened.id)).at(-1)?.stockLeft, STOCK - 6);
    assert.deepEqual(await productFacts(target.id), { stock: STOCK - 6, orders: 6 });
    assert.equal(await prisma().stockBucket.count({ where: { kind: "product", targetId: target.id } }), 0);
  });

  it("ignores units that an earlier run left in buckets", async () => {
    const target = { kind: "product" as const, id: await makeProduct(0) };
    await splitStock(postgresPool(), target, { units: 7, buckets: 16 });
    const opened = await open("sql-guarded", { target });
    await sell(opened, BUYERS);
    const document = await here.lab.finish(opened.id, { client, awaitClientReport: false });
    assert.deepEqual(document.stock, { initial: STOCK, final: 0, orders: STOCK });
  });
});
