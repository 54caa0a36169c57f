import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { useFaultSales, verdictText } from "../../support/fault-sales";
import { requireEnv, setEnv } from "../../support/lab-env";

requireEnv("DATABASE_URL", "ZOOKEEPER_HOSTS", "LAB_CONTROL_FILE");
setEnv({ STORE_NODE: "zk-partition-lab" });

const PROOF =
  /^node-1 and zk-1 were separated from zk-2 and zk-3 for [\d.]+ s while (buyer-\d+(?:-\d+)?) \([^)]+\) held the lock through session 0x([0-9a-f]+) on zk-1\. zk-1 stopped serving clients after [\d.]+ m?s; the others gave the lock to session 0x([0-9a-f]+) after [\d.]+ s\. Before: (.+)\. At the end: (.+)\.$/;

describe("a sale through three ZooKeeper servers, one of which is separated together with the holder's node", () => {
  const sell = useFaultSales({ stock: 5_000, vus: 4, holdMs: 10, ttlMs: 1_000, waitTimeoutMs: 25_000 });

  it("leaves zk-mutex safe: the holder detects the loss before the majority gives the lock to another buyer", async () => {
    const control = await sell("zk-mutex", [], { forMs: 500 });
    assert.deepEqual([control.document.verdict, control.document.expected], ["safe", "safe"]);

    const { document, history } = await sell("zk-mutex", [{ id: "zk-partition", atMs: 0 }], { forMs: 9_000 });
    const { verdict, expected, missedFaults } = document;
    assert.deepEqual([verdict, expected, missedFaults], ["safe", "safe", []], verdictText(document));
    const { proof, fromNs, toNs } = document.faults[0] ?? assert.fail(verdictText(document));
    const [, buyerId, session, next, before = "", end = ""] = PROOF.exec(proof) ?? assert.fail(proof);
    assert.notEqual(session, next, proof);
    assert.ok(/zk-1 (?:leader|follower)/.test(before) && before.split("follower").length === 3, proof);
    assert.ok(end.includes("zk-1 not serving") && /zk-[23] leader/.test(end), proof);

    const at = (reading: string) => Number(BigInt(reading) - (history.ops[0]?.clock.originNs ?? 0n));
    const holder = history.ops.find((op) => op.buyerId === buyerId) ?? assert.fail(`found no purchase of ${buyerId}`);
    assert.deepEqual([holder.node, holder.writeNs], ["node-1", undefined], "expected no write of the holder");
    const grants = (node: string) =>
      history.ops.filter((op) => op.node === node).flatMap(({ grantedNs }) => grantedNs ?? []);
    const nextNs = Math.min(...grants("node-2").filter((grantedNs) => grantedNs > at(fromNs)));
    const { leaseLostNs = 0 } = holder;
    assert.ok(leaseLostNs > at(fromNs) && leaseLostNs < nextNs, "expected the loss before the next grant");
    assert.ok(nextNs < at(toNs), "expected the next grant during the partition");
    assert.ok(
      !grants("node-1").some((grantedNs) => grantedNs > at(fromNs) && grantedNs < at(toNs)),
      "expected no grant on the side of the minority",
    );
    assert.ok(
      grants("node-1").some((grantedNs) => grantedNs > at(toNs)),
      "expected grants on node-1 after the partition",
    );
  });
});
