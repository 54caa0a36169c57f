import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { deleteRun, renameRun } from "../../../lib/runs/edit-run";
import { readRun } from "../../../lib/runs/queries";
import type { RunFilter } from "../../../lib/runs/run-filter";
import { listRuns, runFilterChoices } from "../../../lib/runs/run-list";
import { storeRun } from "../../../lib/runs/testing/stored-run";
import { postgresPool } from "../../../lib/services/postgres";
import { requireEnv } from "../../support/lab-env";

requireEnv("DATABASE_URL");
const DATABASE_URL = process.env.DATABASE_URL ?? "";
/** Runs of this file, apart from those of other tests in the same database. */
const SWEEP = `list-${process.pid}`;
const OPERATIONS = [210, 211, 212, 213, 214];

describe("the list of runs", () => {
  /** Oldest first. */
  const ids: string[] = [];

  before(async () => {
    for (const operations of OPERATIONS) ids.push(await storeRun(DATABASE_URL, operations));
    const [first, second, third] = ids;
    const set = (change: string, ofIds: readonly (string | undefined)[]) =>
      postgresPool().query(`UPDATE runs SET ${change} WHERE id = ANY($1)`, [ofIds]);
    await set(`config = config || '{"sweep": {"id": "${SWEEP}"}}'`, ids);
    await set(`config = config || '{"faults": [{"id": "pause-holder"}]}'`, [first, second]);
    await set("strategy = 'sql-guarded', verdict = 'safe'", [second]);
    await set("status = 'failed'", [third]);
  });
  after(async () => {
    await postgresPool().query("DELETE FROM runs WHERE id = ANY($1)", [ids]);
    await postgresPool().end();
  });

  const found = async (filter: Partial<RunFilter> = {}, size = 50) => {
    const { runs, total } = await listRuns(size, { sweep: SWEEP, ...filter });
    return { ids: runs.map(({ id }) => id), total };
  };
  const newestFirst = () => [...ids].reverse();

  it("has pages of runs, newest first, and the number of runs on all pages", async () => {
    assert.deepEqual(await found({}, 2), { ids: newestFirst().slice(0, 2), total: 5 });
    assert.deepEqual(await found({ page: 3 }, 2), { ids: newestFirst().slice(4), total: 5 });
    assert.deepEqual(await found({ page: 4 }, 2), { ids: [], total: 5 });
  });

  it("filters by strategy, verdict, fault and sweep, together", async () => {
    const [first, second, third, fourth, fifth] = ids as [string, string, string, string, string];
    assert.deepEqual((await found({ strategy: "sql-guarded" })).ids, [second]);
    assert.deepEqual((await found({ fault: "pause-holder" })).ids, [second, first]);
    assert.deepEqual((await found({ verdict: "unsafe" })).ids, [fifth, fourth, first]);
    assert.deepEqual((await found({ verdict: "failed" })).ids, [third]);
    assert.deepEqual((await found({ verdict: "unsafe", fault: "pause-holder" })).ids, [first]);
    assert.deepEqual(await found({ sweep: "no-such-sweep" }), { ids: [], total: 0 });
  });

  it("offers the strategies and sweeps that stored runs have", async () => {
    const { strategies, sweeps } = await runFilterChoices();
    assert.ok(strategies.includes("sql-guarded") && sweeps.includes(SWEEP), `${strategies} ${sweeps}`);
  });

  it("names a run and removes the name", async () => {
    const [first = ""] = ids;
    assert.equal((await renameRun(first, "the first"))?.name, "the first");
    assert.equal((await readRun(first))?.name, "the first");
    assert.equal((await renameRun(first, ""))?.name, undefined);
    assert.equal(await renameRun("no-such-run", "x"), null);
  });

  it("deletes a run with its histories, product and orders, and nothing of another run", async () => {
    const [first = "", second = ""] = ids;
    const [run, other] = [await readRun(first), await readRun(second)];
    assert.ok(run && other);
    assert.equal(await deleteRun(run), true);
    assert.equal(await deleteRun(run), false, "expected a second deletion to find nothing");
    assert.deepEqual(await rowsOf(run), { runs: 0, histories: 0, products: 0, orders: 0 });
    assert.deepEqual(await rowsOf(other), { runs: 1, histories: 3, products: 1, orders: 201 });
  });

  it("keeps the product of a deleted run if another run sold it too", async () => {
    const [, second = "", third = ""] = ids;
    const run = await readRun(second);
    assert.ok(run);
    await postgresPool().query(`UPDATE runs SET document = jsonb_set(document, '{target}', $2) WHERE id = $1`, [
      third,
      JSON.stringify(run.target),
    ]);
    assert.equal(await deleteRun(run), true);
    assert.deepEqual(await rowsOf(run), { runs: 0, histories: 0, products: 1, orders: 201 });
  });

  it("changes no run that is still running", async () => {
    const [, , , , fifth = ""] = ids;
    const run = await readRun(fifth);
    assert.ok(run);
    await postgresPool().query("UPDATE runs SET status = 'running' WHERE id = $1", [fifth]);
    assert.deepEqual([await renameRun(fifth, "x"), await deleteRun(run)], [null, false]);
    await postgresPool().query("UPDATE runs SET status = 'failed' WHERE id = $1", [fifth]);
  });
});

async function rowsOf({ id, target }: { readonly id: string; readonly target: { readonly id: number } }) {
  const { rows } = await postgresPool().query(
    `SELECT (SELECT count(*)::int FROM runs WHERE id = $1) AS runs,
       (SELECT count(*)::int FROM run_histories WHERE run_id = $1) AS histories,
       (SELECT count(*)::int FROM products WHERE id = $2) AS products,
       (SELECT count(*)::int FROM orders WHERE product_id = $2) AS orders`,
    [id, target.id],
  );
  return rows[0];
}
