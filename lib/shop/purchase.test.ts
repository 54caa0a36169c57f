import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LockError } from "../locks/errors";
import type { StoreNode } from "../node/store-node";
import { metrics } from "../services/metrics";
import type { StockOutcome } from "../stock/types";
import { PurchaseFailure, purchase } from "./purchase";
import { isShopError } from "./shop-error";
import { FakeStrategy, makeNode, RUN_SETTINGS } from "./testing/fake-strategy";
import { useFakes } from "./testing/use-fakes";

const TARGET = { kind: "product", id: 1 } as const;
const INPUT = { target: TARGET, buyerId: "buyer", quantity: 2, idempotencyKey: "key-1" };
const STATUS = /^SELECT status FROM runs/;

function isContended(error: unknown): boolean {
  return isShopError(error) && error.options.code === "contended" && error.options.retryAfterSeconds === 1;
}

function lockError(isDefinite: boolean): LockError {
  const code = isDefinite ? "backend_unavailable" : "outcome_unknown";
  return new LockError({ code, strategyId: "fake", resource: "product:1", message: code, isDefinite });
}

describe("purchase", () => {
  const fakes = useFakes();

  function start() {
    const strategy = new FakeStrategy();
    const node = makeNode(strategy);
    return { strategy, node, buy: () => purchase(node, node.plan(TARGET), INPUT) };
  }

  function recordedOutcomes(node: StoreNode): string[] {
    return [...(node.run("run-1")?.recorder.lines() ?? [])].map(({ outcome }) => outcome);
  }

  it("uses the shop's settings outside of runs", async () => {
    const { strategy, buy } = start();
    assert.deepEqual(await buy(), { outcome: { status: "sold", orderId: "7" }, strategyId: "fake", runId: null });
    const [request] = strategy.purchases;
    assert.deepEqual([request?.runId, request?.holdMs, request?.ttlMs, request?.waitTimeoutMs], [null, 1, 2_000, 300]);
    assert.deepEqual([request?.buyerId, request?.quantity, request?.fencing], ["buyer", 2, true]);
  });

  it("uses the run's settings inside a run, and records the operation there", async () => {
    const { strategy, node, buy } = start();
    node.assign({ runId: "run-1", target: TARGET, ...RUN_SETTINGS, fencing: false });
    await buy();
    const [request] = strategy.purchases;
    assert.deepEqual(
      [request?.runId, request?.holdMs, request?.ttlMs, request?.waitTimeoutMs],
      ["run-1", 5, 6_000, 700],
    );
    assert.equal(request?.fencing, false);
    const [line] = [...(node.run("run-1")?.recorder.lines() ?? [])];
    assert.deepEqual([line?.outcome, line?.orderId, line?.buyerId, line?.quantity], ["sold", "7", "buyer", 2]);
    assert.equal(line?.idempotencyKey, "key-1");
    assert.ok(line?.answeredNs, "expected the time of the answer in the history line");
    const counts = node.stats("run-1")?.counts;
    assert.deepEqual([counts?.requests, counts?.sold], [1, 1]);
  });

  for (const [status, recorded] of [
    ["sold_out", "sold_out"],
    ["contended", "contended"],
    ["already_claimed", "rejected"],
    ["limit_reached", "rejected"],
    ["token_used", "rejected"],
    ["repeated_key", "rejected"],
  ] as const) {
    it(`records ${status} as ${recorded}`, async () => {
      const { strategy, node, buy } = start();
      node.assign({ runId: "run-1", target: TARGET, ...RUN_SETTINGS });
      const outcome: StockOutcome = status === "contended" ? { status, waitedMs: 1, attempts: 1 } : { status };
      strategy.purchaseOutcome = outcome;
      await buy();
      assert.deepEqual(recordedOutcomes(node), [recorded]);
    });
  }

  for (const [what, error, recorded] of [
    ["a definite failure", lockError(true), "error"],
    ["a failure of unknown outcome", lockError(false), "unknown"],
    ["a defect", new Error("a defect"), "error"],
  ] as const) {
    it(`records ${what} as ${recorded}, and names the strategy that failed`, async () => {
      const { strategy, node, buy } = start();
      node.assign({ runId: "run-1", target: TARGET, ...RUN_SETTINGS });
      strategy.purchaseOutcome = error;
      await assert.rejects(buy(), (failure) => {
        return failure instanceof PurchaseFailure && failure.strategyId === "fake" && failure.cause === error;
      });
      assert.deepEqual(recordedOutcomes(node), [recorded]);
      assert.equal(node.stats("run-1")?.inFlight, 0);
    });
  }

  it("counts a purchase of the shop for Prometheus", async () => {
    const { buy } = start();
    const before = metrics().purchases.get("fake|sold");
    await buy();
    assert.equal(metrics().purchases.get("fake|sold"), before + 1);
  });

  it("rejects a purchase of the shop while the run that sold the target awaits its verdict", async () => {
    const { strategy, node, buy } = start();
    fakes.postgres.script(STATUS, [{ status: "running" }], [{ status: "finished" }]);
    node.assign({ runId: "run-1", target: TARGET, ...RUN_SETTINGS });
    node.close("run-1");
    await assert.rejects(buy(), isContended);
    assert.equal(strategy.purchases.length, 0);
    await buy();
    await buy();
    assert.equal(strategy.purchases.length, 2);
    assert.equal(fakes.postgres.sent(STATUS).length, 2, "expected no read of the status after the verdict");
  });

  it("rejects a purchase of the shop if it cannot read whether the run has its verdict", async () => {
    const { strategy, node, buy } = start();
    fakes.postgres.script(STATUS, new Error("connection refused"));
    node.assign({ runId: "run-1", target: TARGET, ...RUN_SETTINGS });
    node.close("run-1");
    await assert.rejects(buy(), isContended);
    assert.deepEqual([strategy.purchases.length, fakes.warnings.length], [0, 1]);
  });

  it("rejects a purchase of the shop while a run of the target is prepared", async () => {
    const { strategy, node, buy } = start();
    fakes.postgres.script(STATUS, [{ status: "running" }]);
    node.reserve({ runId: "run-1", target: TARGET, ...RUN_SETTINGS });
    await assert.rejects(buy(), isContended);
    assert.equal(strategy.purchases.length, 0);
  });

  it("counts a purchase of the shop as work that a run waits for, until it has ended", async () => {
    const { strategy, node, buy } = start();
    const inFlight: number[] = [];
    const assignment = { runId: "run-1", target: TARGET, ...RUN_SETTINGS };
    strategy.reduceStock = async () => {
      inFlight.push(node.reserve(assignment));
      return { status: "sold_out" };
    };
    await buy();
    assert.deepEqual([...inFlight, node.reserve(assignment)], [1, 0]);
  });

  it("rejects a shop's plan if a run of the target has started since", async () => {
    const { strategy, node } = start();
    const plan = node.plan(TARGET);
    node.assign({ runId: "run-1", target: TARGET, ...RUN_SETTINGS });
    await assert.rejects(purchase(node, plan, INPUT), isContended);
    assert.equal(strategy.purchases.length, 0);
  });

  it("rejects a run's plan if the run has been closed since", async () => {
    const { strategy, node } = start();
    node.assign({ runId: "run-1", target: TARGET, ...RUN_SETTINGS });
    const plan = node.plan(TARGET);
    node.close("run-1");
    await assert.rejects(purchase(node, plan, INPUT), isContended);
    assert.deepEqual([strategy.purchases.length, node.stats("run-1")?.recorded], [0, 0]);
  });
});
