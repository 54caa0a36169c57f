import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LockError } from "../locks/errors";
import type { GiveBackRequest } from "../stock/types";
import { expireDueOrders } from "./expiry";
import { serverError } from "./testing/fake-postgres";
import { FakeStrategy, makeNode, RUN_SETTINGS } from "./testing/fake-strategy";
import { useFakes } from "./testing/use-fakes";

const DUE = /WITH first AS/;
const END_WITHOUT_STOCK = /AND NOT stock_taken/;
const NOW = new Date(1_000_000);

function makeOrders(productId: number, orderIds: readonly string[], stockTaken = true) {
  return orderIds.map((orderId) => ({ orderId, productId, buyerId: "buyer", quantity: 1, stockTaken }));
}

function wrapped(cause: Error): LockError {
  const message = `PostgreSQL failed: ${cause.message}`;
  const about = { strategyId: "fake", resource: "product:1" };
  return new LockError({ ...about, code: "backend_unavailable", message, isDefinite: true, cause });
}

describe("expireDueOrders", () => {
  const fakes = useFakes();

  /** PostgreSQL offers these batches in turn, except those of skipped products. */
  function scriptDue(...batches: readonly ReturnType<typeof makeOrders>[]): void {
    const left = [...batches];
    fakes.postgres.script(DUE, ([, skippedProducts, skippedOrders]) => {
      const next = left.findIndex(([order]) => !(skippedProducts as number[]).includes(order?.productId ?? 0));
      const batch = next < 0 ? [] : (left.splice(next, 1)[0] ?? []);
      return batch.filter(({ orderId }) => !(skippedOrders as string[]).includes(orderId));
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

  /** Give-backs that contain one of these orders fail; the others succeed. */
  function failing(orderIds: readonly string[], error: Error) {
    return (request: GiveBackRequest) =>
      request.orders.some(({ orderId }) => orderIds.includes(orderId))
        ? error
        : ({ status: "released", orders: request.orders } as const);
  }

  for (const [reason, error] of [
    ["violates a constraint", wrapped(serverError("23514", "buyer_allowances_units_check"))],
    ["does not get an answer", wrapped(new Error("Query read timeout"))],
  ] as const)
    it(`expires the other orders of the batch if one ${reason}, and reports that one once`, async () => {
      const { strategy, node } = start();
      scriptDue(makeOrders(1, ["1", "2", "3"]), makeOrders(1, ["2", "4"]), makeOrders(2, ["5"]));
      strategy.giveBackOutcome = failing(["2"], error);
      const round = await expireDueOrders(node, { now: NOW });
      const failures = [`order 2 of product 1 could not be expired: ${error.message}`];
      assert.deepEqual(round, { expired: 4, postponed: 0, failures });
      assert.deepEqual(
        strategy.giveBacks.map(({ orders }) => orders.map(({ orderId }) => orderId).join()),
        ["1,2,3", "1", "2", "3", "4", "5"],
      );
    });

  it("expires every other order if many orders in a row violate a constraint", async () => {
    const { strategy, node } = start();
    scriptDue(makeOrders(1, ["1", "2", "3", "4", "5"]));
    strategy.giveBackOutcome = failing(["1", "2", "3", "4"], wrapped(serverError("22003")));
    const { expired, failures } = await expireDueOrders(node, { now: NOW });
    assert.deepEqual([expired, failures.length], [1, 4]);
  });

  it("stops trying the orders of a product one by one after three failures of a server", async () => {
    const { strategy, node } = start();
    scriptDue(makeOrders(1, ["1", "2", "3", "4", "5"]), makeOrders(2, ["6"]));
    const refused = wrapped(new Error("connection refused"));
    strategy.giveBackOutcome = failing(["1", "2", "3", "4", "5"], refused);
    const round = await expireDueOrders(node, { now: NOW });
    assert.deepEqual(round, { expired: 1, postponed: 0, failures: [refused.message] });
    assert.equal(strategy.giveBacks.length, 5);
  });

  it("postpones the rest of the batch if the product becomes contended while its orders are tried one by one", async () => {
    const { strategy, node } = start();
    scriptDue(makeOrders(1, ["1", "2", "3"]));
    const fail = failing(["1"], wrapped(serverError("23514")));
    strategy.giveBackOutcome = (request) =>
      request.orders[0]?.orderId === "2" ? { status: "contended", waitedMs: 1, attempts: 1 } : fail(request);
    const { expired, postponed, failures } = await expireDueOrders(node, { now: NOW });
    assert.deepEqual([expired, postponed, failures.length], [0, 2, 1]);
  });

  it("tries orders that reserve no stock one by one, too", async () => {
    const { node } = start();
    scriptDue(makeOrders(1, ["1", "2"], false));
    fakes.postgres.script(END_WITHOUT_STOCK, ([ids]) => {
      if ((ids as string[]).includes("1")) throw serverError("23514");
      return [{ order_id: "2" }];
    });
    const { expired, failures } = await expireDueOrders(node, { now: NOW });
    assert.deepEqual([expired, failures.length], [1, 1]);
  });

  it("ends the round after 50 batches", async () => {
    const { strategy, node } = start();
    fakes.postgres.script(DUE, makeOrders(1, ["1"]));
    assert.equal((await expireDueOrders(node, { now: NOW })).expired, 50);
    assert.equal(strategy.giveBacks.length, 50);
  });
});
