import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { expireDueOrders } from "./expiry";
import { FakeStrategy, makeNode, RUN_SETTINGS } from "./testing/fake-strategy";
import { useFakes } from "./testing/use-fakes";

const DUE = /WITH first AS/;
const END_WITHOUT_STOCK = /AND NOT stock_taken/;
const NOW = new Date(1_000_000);

function makeOrders(productId: number, orderIds: readonly string[], stockTaken = true) {
  return orderIds.map((orderId) => ({ orderId, productId, buyerId: "buyer", quantity: 1, stockTaken }));
}

describe("expireDueOrders", () => {
  const fakes = useFakes();

  /** PostgreSQL offers these batches in turn, except those of skipped products. */
  function scriptDue(...batches: readonly ReturnType<typeof makeOrders>[]): void {
    const left = [...batches];
    fakes.postgres.script(DUE, ([, skipped]) => {
      const next = left.findIndex(([order]) => !(skipped as number[]).includes(order?.productId ?? 0));
      return next < 0 ? [] : (left.splice(next, 1)[0] ?? []);
    });
  }

  function start() {
    const strategy = new FakeStrategy();
    return { strategy, node: makeNode(strategy) };
  }

  it("returns the units of due orders, batch by batch, until none is due", async () => {
    const { strategy, node } = start();
    scriptDue(makeOrders(1, ["1", "2"]), makeOrders(2, ["3"]));
    const batches: number[] = [];
    const round = await expireDueOrders(node, { now: NOW, onBatch: (batch) => void batches.push(batch.length) });
    assert.deepEqual(round, { expired: 3, postponed: 0, failures: [] });
    assert.deepEqual(batches, [2, 1]);
    const [first] = strategy.giveBacks;
    assert.deepEqual([first?.as, first?.dueBefore, first?.waitTimeoutMs], ["expired", NOW, 2_000]);
  });

  it("counts only the orders that this call ended", async () => {
    const { strategy, node } = start();
    scriptDue(makeOrders(1, ["1", "2"]));
    strategy.giveBackOutcome = { status: "released", orders: makeOrders(1, ["2"]) };
    assert.equal((await expireDueOrders(node, { now: NOW })).expired, 1);
  });

  it("ends orders that reserve no stock without calling the strategy", async () => {
    const { strategy, node } = start();
    scriptDue(makeOrders(1, ["1", "2"], false));
    fakes.postgres.script(END_WITHOUT_STOCK, [{ order_id: "1" }, { order_id: "2" }]);
    assert.equal((await expireDueOrders(node, { now: NOW })).expired, 2);
    assert.equal(strategy.giveBacks.length, 0);
    const [values] = fakes.postgres.sent(END_WITHOUT_STOCK);
    assert.deepEqual(values?.slice(0, 4), [["1", "2"], "expired", null, NOW]);
  });

  it("ends both kinds of orders of one product", async () => {
    const { strategy, node } = start();
    scriptDue([...makeOrders(1, ["1"]), ...makeOrders(1, ["2"], false)]);
    fakes.postgres.script(END_WITHOUT_STOCK, [{ order_id: "2" }]);
    assert.equal((await expireDueOrders(node, { now: NOW })).expired, 2);
    assert.deepEqual(
      strategy.giveBacks[0]?.orders.map(({ orderId }) => orderId),
      ["1"],
    );
  });

  it("postpones the orders of a contended product and goes on with the next", async () => {
    const { strategy, node } = start();
    scriptDue(makeOrders(1, ["1", "2"]), makeOrders(2, ["3"]));
    strategy.giveBackOutcome = { status: "contended", waitedMs: 1, attempts: 1 };
    const round = await expireDueOrders(node, { now: NOW });
    assert.deepEqual(round, { expired: 0, postponed: 3, failures: [] });
    assert.deepEqual(
      fakes.postgres.sent(DUE).map(([, skipped]) => skipped),
      [[], [1], [1, 2]],
    );
  });

  it("postpones the orders of a product that a run sells", async () => {
    const { strategy, node } = start();
    node.assign({ runId: "run-1", target: { kind: "product", id: 1 }, ...RUN_SETTINGS });
    scriptDue(makeOrders(1, ["1"]), makeOrders(2, ["2"]));
    assert.deepEqual(await expireDueOrders(node, { now: NOW }), { expired: 1, postponed: 1, failures: [] });
    assert.deepEqual(
      strategy.giveBacks.map(({ target }) => target.id),
      [2],
    );
  });

  it("reports a product whose server failed and goes on with the next", async () => {
    const { strategy, node } = start();
    scriptDue(makeOrders(1, ["1"]), makeOrders(2, ["2"]));
    strategy.giveBackOutcome = new Error("Redis did not answer");
    const round = await expireDueOrders(node, { now: NOW });
    assert.deepEqual(round.failures, ["Redis did not answer", "Redis did not answer"]);
    assert.deepEqual([round.expired, round.postponed], [0, 0]);
  });

  it("ends the round after 50 batches", async () => {
    const { strategy, node } = start();
    fakes.postgres.script(DUE, makeOrders(1, ["1"]));
    assert.equal((await expireDueOrders(node, { now: NOW })).expired, 50);
    assert.equal(strategy.giveBacks.length, 50);
  });
});
