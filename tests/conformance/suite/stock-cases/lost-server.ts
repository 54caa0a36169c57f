import assert from "node:assert/strict";
import { isLockError } from "../../../../lib/locks/errors";
import { nowNs } from "../../../../lib/services/monotonic";
import { openLockClients } from "../../../support/lock-clients";
import { relayService } from "../../../support/relayed-servers";
import { makeProduct, productFacts } from "../../../support/rows";
import type { StockCase } from "../case";
import { makeStock, postgresOptions } from "../test-setup";

const TYPED = ["backend_unavailable", "quorum_failed", "outcome_unknown"];

export const lostServer: StockCase = {
  name: () => "answers a purchase with a typed error while its server is gone, and sells again when it is back",
  async run(subject) {
    // PostgreSQL holds the stock whatever else there is.
    await using relayed = await relayService(subject.service ?? "postgres");
    await using clients = openLockClients(relayed.servers, { postgres: postgresOptions(subject.plug) });
    await using strategy = makeStock(subject.plug, subject.foreign, clients);
    const target = { kind: "product" as const, id: await makeProduct(5) };
    const buy = (buyerId: string) => {
      const trace = { opId: `l-${process.pid}-${target.id}-${buyerId}`, invokedNs: nowNs() };
      const limits = { holdMs: 0, ttlMs: 5_000, waitTimeoutMs: 1_000 };
      return strategy.reduceStock({ target, quantity: 1, buyerId, runId: null, ...limits, trace });
    };
    assert.equal((await buy("before")).status, "sold");
    for (const relay of relayed.relays) await relay.refuse();
    await assert.rejects(buy("meanwhile"), (error) => isLockError(error) && TYPED.includes(error.code));
    for (const relay of relayed.relays) await relay.listen();
    assert.equal((await buyUntilSold(buy)).status, "sold");
    const { stock, orders } = await productFacts(target.id);
    assert.deepEqual({ stock, orders }, { stock: 3, orders: 2 });
  },
};

/** A client may need a moment to find its server again; until then the error is typed, too. */
async function buyUntilSold<T>(buy: (buyerId: string) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const [settled] = await Promise.allSettled([buy(`after-${attempt}`)]);
    if (settled.status === "fulfilled") return settled.value;
    if (attempt === 10 || !isLockError(settled.reason)) throw settled.reason;
  }
}
