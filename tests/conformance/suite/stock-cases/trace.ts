import assert from "node:assert/strict";
import { nowNs } from "../../../../lib/services/monotonic";
import type { OperationTrace } from "../../../../lib/stock/types";
import { makeProduct } from "../../../support/rows";
import type { StockCase } from "../case";
import { makeStock } from "../test-setup";

export const consistentTrace: StockCase = {
  name: () => "records a trace with consistent values and times",
  async run(tested) {
    await using strategy = makeStock(tested.setup, tested.external, tested.clients);
    const target = { kind: "product" as const, id: await makeProduct(3) };
    const trace: OperationTrace = { opId: `t-${process.pid}-${target.id}`, invokedNs: nowNs() };
    const limits = { holdMs: 2, ttlMs: 5_000, waitTimeoutMs: 10_000 };
    const purchase = { target, quantity: 1, buyerId: "traced", runId: null, ...limits, trace };
    assert.equal((await strategy.reduceStock(purchase)).status, "sold");
    const { readValue, writtenValue, writeAccepted } = trace;
    assert.deepEqual(
      { readValue, writtenValue, writeAccepted },
      { readValue: 3, writtenValue: 2, writeAccepted: true },
    );
    const { invokedNs, grantedNs = invokedNs, readNs, writeNs, committedNs } = trace;
    for (const [index, at] of [invokedNs, grantedNs, readNs, writeNs, committedNs].entries()) {
      assert.ok(at !== undefined, `step ${index} has no time`);
    }
    const steps = [invokedNs, grantedNs, readNs, writeNs, committedNs].map((at) => at ?? 0n);
    assert.deepEqual(
      steps.toSorted((left, right) => (left < right ? -1 : left > right ? 1 : 0)),
      steps,
    );
  },
};
