import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import pg from "pg";
import { statementsEnded } from "../../../lib/runs/statements-ended";
import { postgresPool } from "../../../lib/services/postgres";
import { requireEnv, setEnv } from "../../support/lab-env";
import { openPgWatch, type PgWatch } from "../../support/pg-watch";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL");
setEnv({ STORE_NODE: "statements-test" });

const NODE = "flash-sale-lab node-9";
const GATE = 7_301_442;
const LIMIT_MS = 30_000;

/** A node's statement that PostgreSQL still executes: it waits until `gate` opens. */
describe("waiting for the statements of the lab's nodes", () => {
  let gate: pg.Client;
  let node: pg.Client;
  let watch: PgWatch;
  let statement: Promise<unknown> = Promise.resolve();

  before(async () => {
    gate = new pg.Client({ connectionString: process.env.DATABASE_URL });
    node = new pg.Client({ connectionString: process.env.DATABASE_URL, application_name: NODE });
    await Promise.all([gate.connect(), node.connect()]);
    watch = await openPgWatch();
  });
  beforeEach(async () => {
    await gate.query("SELECT pg_advisory_lock($1)", [GATE]);
    statement = node.query("SELECT pg_advisory_xact_lock($1)", [GATE]);
    await watch.untilWaiting(NODE, 1);
  });
  after(async () => {
    await Promise.all([gate.end(), node.end(), watch[Symbol.asyncDispose](), postgresPool().end()]);
  });

  async function openGate(): Promise<void> {
    await gate.query("SELECT pg_advisory_unlock($1)", [GATE]);
    await statement;
  }

  /** The last statement of an idle connection is what it has executed. */
  async function hasRead(): Promise<boolean> {
    const text = "SELECT FROM pg_stat_activity WHERE query LIKE '%AS statement FROM%' AND state = 'idle'";
    return (await watch.client.query(text)).rowCount !== 0;
  }

  it("ends with the statement, and does not wait for one that began later", async () => {
    const ended = statementsEnded(LIMIT_MS);
    await waitUntil(hasRead, { what: "the first reading" });
    await openGate();
    await gate.query("SELECT pg_advisory_lock($1)", [GATE]);
    statement = node.query("SELECT pg_advisory_xact_lock($1)", [GATE]);
    await watch.untilWaiting(NODE, 1);
    assert.equal(await ended, true);
    await openGate();
  });

  it("finds that one still runs at the time limit", async () => {
    assert.equal(await statementsEnded(1), false);
    await openGate();
    assert.equal(await statementsEnded(LIMIT_MS), true);
  });
});
