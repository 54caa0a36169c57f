import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { ShopMaintenance } from "./maintenance";
import { FakeStrategy, makeNode } from "./testing/fake-strategy";
import { FakeTimers } from "./testing/fake-timers";
import { useFakes } from "./testing/use-fakes";

const DUE = /WITH first AS/;
const DELETE_KEYS = /^DELETE FROM idempotency_keys/;
const RUNNING_TARGETS = /WHERE status = 'running'/;
const EVERY_MS = 5_000;

/** Lets the promises of a round settle. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
}

describe("ShopMaintenance", () => {
  const fakes = useFakes();
  let timers: FakeTimers;
  let maintenance = new ShopMaintenance(makeNode(new FakeStrategy()), 0);
  beforeEach(() => {
    timers = new FakeTimers();
    maintenance = new ShopMaintenance(makeNode(new FakeStrategy()), EVERY_MS);
  });
  afterEach(async () => {
    await maintenance.stop();
    timers[Symbol.dispose]();
  });

  async function advance(ms: number): Promise<void> {
    timers.advance(ms);
    await settle();
  }

  const rounds = () => fakes.postgres.sent(DUE).length;
  const slowJobs = () => [fakes.postgres.sent(DELETE_KEYS).length, fakes.postgres.sent(RUNNING_TARGETS).length];

  it("expires orders every round, and deletes keys and reconciles at the start and every 30 s", async () => {
    fakes.postgres.script(DUE, []).script(DELETE_KEYS, []).script(RUNNING_TARGETS, []);
    maintenance.start();
    await advance(0);
    assert.deepEqual([rounds(), slowJobs()], [1, [1, 1]]);
    await advance(EVERY_MS);
    assert.deepEqual([rounds(), slowJobs()], [2, [1, 1]]);
    for (let round = 3; round <= 6; round += 1) await advance(EVERY_MS);
    assert.deepEqual([rounds(), slowJobs()], [6, [1, 1]]);
    await advance(EVERY_MS);
    assert.deepEqual([rounds(), slowJobs()], [7, [2, 2]]);
  });

  it("runs the other jobs if one fails, and logs the same failure once", async () => {
    fakes.postgres.script(DUE, new Error("connection refused")).script(DELETE_KEYS, []).script(RUNNING_TARGETS, []);
    maintenance.start();
    await advance(0);
    await advance(EVERY_MS);
    assert.deepEqual([rounds(), slowJobs(), fakes.warnings.length], [2, [1, 1], 1]);
  });

  it("logs a failure again after a round without one", async () => {
    const refused = new Error("connection refused");
    fakes.postgres.script(DUE, refused, [], refused).script(DELETE_KEYS, []).script(RUNNING_TARGETS, []);
    maintenance.start();
    for (const ms of [0, EVERY_MS, EVERY_MS]) await advance(ms);
    assert.equal(fakes.warnings.length, 2);
  });

  it("logs a new failure beside one that it has logged, and that one not again", async () => {
    const reasons: string[] = [];
    fakes.onWarning = ({ reason }) => void reasons.push(reason ?? "");
    fakes.postgres.script(DUE, new Error("connection refused"));
    fakes.postgres.script(DELETE_KEYS, [], new Error("disk full")).script(RUNNING_TARGETS, []);
    maintenance.start();
    await advance(0);
    for (let round = 0; round < 7; round += 1) await advance(EVERY_MS);
    const diskFull = "shop on idempotency key: PostgreSQL did not answer: disk full";
    assert.deepEqual(reasons, ["connection refused", diskFull]);
  });

  it("retries a failed reconciliation in the next round, and then waits 30 s again", async () => {
    fakes.postgres.script(DUE, []).script(DELETE_KEYS, []).script(RUNNING_TARGETS, new Error("connection refused"), []);
    maintenance.start();
    await advance(0);
    assert.deepEqual(slowJobs(), [1, 1]);
    await advance(EVERY_MS);
    assert.deepEqual(slowJobs(), [2, 2]);
    for (let round = 3; round <= 7; round += 1) await advance(EVERY_MS);
    assert.deepEqual(slowJobs(), [2, 2]);
    await advance(EVERY_MS);
    assert.deepEqual(slowJobs(), [3, 3]);
  });

  it("starts no round after stop, which waits for the current one", async () => {
    let finishQuery = () => {};
    const query = new Promise<never[]>((resolve) => {
      finishQuery = () => resolve([]);
    });
    fakes.postgres
      .script(DUE, () => query)
      .script(DELETE_KEYS, [])
      .script(RUNNING_TARGETS, []);
    maintenance.start();
    await advance(0);
    let isStopped = false;
    const stopped = maintenance.stop().then(() => {
      isStopped = true;
    });
    await settle();
    assert.equal(isStopped, false);
    finishQuery();
    await stopped;
    await advance(10 * EVERY_MS);
    assert.equal(rounds(), 1);
  });

  it("never starts if its interval is 0", async () => {
    maintenance = new ShopMaintenance(makeNode(new FakeStrategy()), 0);
    maintenance.start();
    await advance(10 * EVERY_MS);
    assert.equal(rounds(), 0);
  });
});
