import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openLockView } from "../../../lib/faults/lock-owner";
import type { FaultRequest } from "../../../lib/faults/request";
import type { RunDocument } from "../../../lib/runs/document";
import { traitsOf } from "../../../lib/stock/stock-strategies";
import { resourceOf } from "../../../lib/stock/types";
import { type FaultSale, useFaultSales, verdictText } from "../../support/fault-sales";
import { requireEnv, setEnv } from "../../support/lab-env";
import { openLockClients } from "../../support/lock-clients";

requireEnv("DATABASE_URL", "REDIS_URL", "REDLOCK_URLS", "ZOOKEEPER_HOSTS");
setEnv({ STORE_NODE: "lost-replies-lab" });

const BUYERS = 16;

describe("a sale in which replies to a lock are lost or late", () => {
  /** Every buyer can buy, and waits for longer than a lease that was lost. */
  const sale = useFaultSales({ stock: 1_000, vus: BUYERS, holdMs: 40, ttlMs: 1_000, waitTimeoutMs: 20_000 });

  /** @throws AssertionError if the sale is not safe, or a buyer gets neither a unit nor the answer that the lease was lost */
  async function sell(strategy: string, faults: readonly FaultRequest[], forMs = 0): Promise<FaultSale> {
    const sold = await sale(strategy, faults, { forMs });
    const { document, answers } = sold;
    const found = `${verdictText(document)} ${JSON.stringify(answers.map(({ body }) => body.error))}`;
    const { verdict, expected, missedFaults = [], counts } = document;
    assert.deepEqual([verdict, expected, missedFaults], ["safe", "safe", []], found);
    const lostLeases = answers.filter(({ body }) => body.error?.code === "lease_lost").length;
    assert.equal(counts.sold + lostLeases, answers.length, found);
    // A buyer who holds the lock when a fault begins, or cuts the connection of its node, may lose it. There are two nodes.
    assert.ok(lostLeases <= 2 * faults.length, found);
    return sold;
  }
  const proofOf = ({ faults }: RunDocument) => faults[0]?.proof ?? "";
  /** Grants during the fault, except near its start and its end, and after it. */
  function grants({ document, history }: FaultSale, marginMs = 0) {
    const { fromNs, toNs } = document.faults[0] ?? assert.fail("the fault was missed");
    const times = history.ops.flatMap(({ grantedNs, clock }) =>
      grantedNs === undefined ? [] : [Number(BigInt(Math.round(grantedNs)) + clock.originNs - BigInt(fromNs)) / 1e6],
    );
    const lengthMs = Number(BigInt(toNs) - BigInt(fromNs)) / 1e6;
    const count = (isIn: (ms: number) => boolean) => times.filter(isIn).length;
    return { during: count((ms) => ms > marginMs && ms < lengthMs - marginMs), after: count((ms) => ms >= lengthMs) };
  }

  for (const strategy of ["zk-mutex", "zk-exclusive"]) {
    it(`sells on with ${strategy}, and no orphaned node stays, when the reply to a create is lost on each node`, async () => {
      await sell(strategy, []);
      // Buyers who come again: on a busy machine, all have queued when the fault begins.
      const { document } = await sell(strategy, [{ id: "lost-create-reply", atMs: 0, durationMs: 2_000 }], 2_500);
      assert.match(
        proofOf(document),
        /^lost-create-reply acted on [12] connections? to ZooKeeper \(\d+ bytes\) of node-/,
      );
      await using view = openLockView(traitsOf(strategy), resourceOf(document.target));
      assert.equal(await view.owner(), null, "expected an empty queue after the sale");
    });
  }

  it("sells on with redis-reentrant when the messages to its waiters are lost with their connections", async () => {
    await sell("redis-reentrant", []);
    const sold = await sell("redis-reentrant", [{ id: "lost-publish", atMs: 50, durationMs: 1_000 }]);
    assert.match(proofOf(sold.document), /^lost-publish acted on \d+ connections? to Redis \(\d+ bytes\) of node-/);
    assert.ok(grants(sold).during > 0, "expected waiters to be served while messages were lost");
  });

  it("grants redlock to no buyer while a majority answers later than the lease, and serves all of them afterwards", async () => {
    await sell("redlock", []);
    const sold = await sell("redlock", [{ id: "slow-quorum", atMs: 50, durationMs: 1_500 }]);
    assert.match(proofOf(sold.document), /^slow-quorum acted on \d+ connections? to Redlock \(\d+ bytes\) of node-/);
    // At the start and the end of the fault, a majority may have answered an attempt in time.
    const { during, after } = grants(sold, 300);
    assert.equal(during, 0, "expected no grant by a majority that is late");
    assert.ok(after > 0, "expected buyers who waited for the end of the fault");
    await using clients = openLockClients();
    const key = resourceOf(sold.document.target);
    const left = await Promise.all(clients.redlock().map((server) => server.call("EXISTS", key)));
    assert.deepEqual(left.map(Number), [0, 0, 0, 0, 0], "expected no vote to stay on a server");
  });
});
