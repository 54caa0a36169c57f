import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { useFaultSales, verdictText } from "../../support/fault-sales";
import { requireEnv, setEnv } from "../../support/lab-env";

requireEnv("DATABASE_URL", "ZOOKEEPER_HOSTS", "ETCD_URL");
setEnv({ STORE_NODE: "session-expiry-lab" });

describe("a run in which the holder's node is cut off until its session has expired", () => {
  const sell = useFaultSales({ stock: 200, vus: 8, holdMs: 20, ttlMs: 2_000, waitTimeoutMs: 25_000 });
  const lostLeases = ({ answers }: Awaited<ReturnType<typeof sell>>) =>
    answers.filter(({ body }) => body.error?.code === "lease_lost").length;

  const owners: Readonly<Record<string, RegExp>> = {
    "zk-fenced": /\/locks\/product:\d+\/_c_[0-9a-f-]+-lock-\d{10} of session 0x[0-9a-f]+ was gone after [\d.]+ s\.$/,
    "zk-exclusive": /\/exclusive-locks\/product:\d+ of session 0x[0-9a-f]+ was gone after [\d.]+ s\.$/,
    "etcd-lock": /locks\/product:\d+\/([0-9a-f]+) of lease \1 was gone after [\d.]+ s\.$/,
  };
  for (const [strategy, owner] of Object.entries(owners)) {
    it(`leaves ${strategy} safe: the holder detects the loss, and its client no longer owns the lock`, async () => {
      const control = await sell(strategy, []);
      assert.deepEqual(
        [control.document.verdict, control.document.expected],
        ["safe", "safe"],
        verdictText(control.document),
      );
      assert.equal(lostLeases(control), 0, "expected no lost lease without the fault");

      // The buyers come again, so that some buy at the other node whenever the first one gets the lock.
      const sale = await sell(strategy, [{ id: "session-expiry", atMs: 0 }], { forMs: 2_000 });
      const { document, history } = sale;
      assert.deepEqual([document.verdict, document.expected], ["safe", "safe"], verdictText(document));
      const { proof, fromNs } = document.faults[0] ?? assert.fail(verdictText(document));
      assert.match(proof, /^node-1 was cut off for [\d.]+ s while buyer-\d+ \([^)]+\) held/);
      assert.match(proof, owner);
      assert.ok(lostLeases(sale) > 0, "expected the holder's purchase to be answered with its loss");
      const losers = history.ops.filter(({ leaseLostNs }) => leaseLostNs !== undefined).map(({ node }) => node);
      assert.deepEqual([...new Set(losers)], ["node-1"], "expected losses at the node that was cut off only");

      const cutOff = history.ops.find(({ buyerId }) => proof.includes(`${buyerId} (`));
      assert.ok(cutOff?.leaseLostNs !== undefined, "expected the holder that was cut off to record its loss");
      assert.equal(cutOff.writeNs, undefined, "expected no write after the loss");
      const soldSince = history.ops.filter(({ committedNs = 0, clock, node }) => {
        return node !== "node-1" && committedNs > Number(BigInt(fromNs) - clock.originNs);
      });
      assert.ok(soldSince.length > 0, "expected the other node to sell after the first one was cut off");
    });
  }
});
