import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { newestRunsByFault, runsWithoutFaults } from "../../../lib/runs/queries";
import { storeRun } from "../../../lib/runs/testing/stored-run";
import { postgresPool } from "../../../lib/services/postgres";
import { requireEnv } from "../../support/lab-env";

requireEnv("DATABASE_URL");
const DATABASE_URL = process.env.DATABASE_URL ?? "";
/** Runs of this file, apart from those of other tests in the same database. */
const STRATEGY = `strategy-${process.pid}`;
const OPERATIONS = 210;

describe("the runs on the page of a strategy", () => {
  /** The faults of each run, oldest first. */
  const faults: readonly (readonly string[])[] = [["down"], ["down", "pause-holder"], [], ["slicer"], [], ["latency"]];
  const ids: string[] = [];

  before(async () => {
    for (const requested of faults) {
      const id = await storeRun(DATABASE_URL, OPERATIONS);
      ids.push(id);
      const config = requested.length === 0 ? {} : { faults: requested.map((fault) => ({ id: fault })) };
      await postgresPool().query("UPDATE runs SET strategy = $2, config = config || $3 WHERE id = $1", [
        id,
        STRATEGY,
        config,
      ]);
    }
    await postgresPool().query("UPDATE runs SET status = 'failed' WHERE id = $1", [ids.at(-1)]);
  });
  after(async () => {
    await postgresPool().query("DELETE FROM runs WHERE id = ANY($1)", [ids]);
    await postgresPool().end();
  });

  it("are the newest finished run with each fault", async () => {
    const [, second, , fourth] = ids;
    const newest = await newestRunsByFault(STRATEGY);
    const found = [...newest].map(([fault, { id }]) => [fault, id]).sort();
    assert.deepEqual(found, [
      ["down", second],
      ["pause-holder", second],
      ["slicer", fourth],
    ]);
    assert.equal((await newestRunsByFault("no-such-strategy")).size, 0);
  });

  it("are the newest finished runs without a fault", async () => {
    const [, , third, , fifth] = ids;
    const without = async (limit: number) => (await runsWithoutFaults(STRATEGY, limit)).map(({ id }) => id);
    assert.deepEqual(await without(5), [fifth, third]);
    assert.deepEqual(await without(1), [fifth]);
  });
});
