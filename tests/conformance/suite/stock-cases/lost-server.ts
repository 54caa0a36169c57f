import assert from "node:assert/strict";
import { isLockError } from "../../../../lib/locks/errors";
import { nowNs } from "../../../../lib/services/monotonic";
import { openLockClients } from "../../../support/lock-clients";
import { relayService } from "../../../support/relayed-servers";
import { makeProduct, productFacts } from "../../../support/rows";
import type { StockCase } from "../case";
import { makeStock, postgresOptions } from "../test-setup";

const EXPECTED_CODES = ["backend_unavailable", "quorum_failed", "outcome_unknown"];

export const lostServer: StockCase = {
  name: () => "returns a typed error for a purchase while its server is down, and sells again when it is back",
  async run(tested) {
    // Every strategy needs PostgreSQL for the stock.
    await using relayed = await relayService(tested.service ?? "postgres");
    await using clients = openLockClients(relayed.servers, { postgres: postgresOptions(tested.setup) });
    await using strategy = makeStock(tested.setup, tested.external, clients);
    const target = { kind: "product" as const, id: await makeProduct(5) };
    const buy = (buyerId: string) => {
      const trace = { opId: `l-${process.pid}-${target.id}-${buyerId}`, invokedNs: nowNs() };
      const limits = { holdMs: 0, ttlMs: 5_000, waitTimeoutMs: 1_000 };
      return strategy.reduceStock({ target, quantity: 1, buyerId, runId: null, ...limits, trace });
    };
    assert.equal((await buy("before")).status, "sold");
    for (const relay of relayed.relays) await relay.refuse();
    await assert.rejects(buy("meanwhile"), (error) => isLockError(error) && EXPECTED_CODES.includes(error.code));
    for (const relay of relayed.relays) await relay.listen();
    assert.equal((await buyUntilSold(buy)).status, "sold");
    const { stock, orders } = await productFacts(target.id);
    assert.deepEqual({ stock, orders }, { stock: 3, orders: 2 });
  },
};

/** A client may need a moment to reconnect. Until then, the error must be typed too. */
async function buyUntilSold<T>(buy: (buyerId: string) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const [settled] = await Promise.allSettled([buy(`after-${attempt}`)]);
    if (settled.status === "fulfilled") return settled.value;
    if (attempt === 10 || !isLockError(settled.reason)) throw settled.reason;
  }
}
