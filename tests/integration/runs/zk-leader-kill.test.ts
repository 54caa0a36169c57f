import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { useFaultSales, verdictText } from "../../support/fault-sales";
import { requireEnv, setEnv } from "../../support/lab-env";

requireEnv("DATABASE_URL", "ZOOKEEPER_HOSTS", "LAB_CONTROL_FILE");
setEnv({ STORE_NODE: "zk-leader-kill-lab" });

const PROOF =
  /^(zk-\d) led in epoch (\d+) and was killed while buyer-\d+(?:-\d+)? \([^)]+\) held the lock through session 0x[0-9a-f]+; [\d.]+ m?s later, (zk-\d) led in epoch (\d+) and (?:had|no longer had) that session\. Before: (.+)\. After: (.+)\.$/;

describe("a sale through three ZooKeeper servers whose leader is killed", () => {
  const sell = useFaultSales({ stock: 5_000, vus: 4, holdMs: 10, ttlMs: 1_000, waitTimeoutMs: 25_000 });

  it("leaves zk-mutex safe: the session outlives the leader, and buyers get the lock after the election", async () => {
    const control = await sell("zk-mutex", [], { forMs: 500 });
    assert.deepEqual([control.document.verdict, control.document.expected], ["safe", "safe"]);

    const { document, history } = await sell("zk-mutex", [{ id: "zk-leader-kill" }], { forMs: 5_000 });
    const { verdict, expected, missedFaults } = document;
    assert.deepEqual([verdict, expected, missedFaults], ["safe", "safe", []], verdictText(document));
    const { proof, fromNs, toNs } = document.faults[0] ?? assert.fail(verdictText(document));
    const [, killed = "", epoch, next = "", nextEpoch, before = "", after = ""] =
      PROOF.exec(proof) ?? assert.fail(proof);
    assert.ok(Number(nextEpoch) > Number(epoch) && next !== killed, proof);
    assert.ok(before.includes(`${killed} leader`) && before.split("follower").length === 3, proof);
    assert.ok(after.includes(`${next} leader`) && after.includes(`${killed} follower`), proof);

    const at = (reading: string) => Number(BigInt(reading) - (history.ops[0]?.clock.originNs ?? 0n));
    const holder = history.ops.find(({ buyerId }) => proof.includes(`${buyerId} (`));
    assert.ok(holder?.leaseLostNs !== undefined, "expected the holder to detect that it lost its connection");
    assert.equal(holder.writeNs, undefined, "expected no write after the loss");
    const grants = history.ops.map(({ grantedNs = 0 }) => grantedNs);
    assert.ok(
      grants.some((grantedNs) => grantedNs > 0 && grantedNs < at(fromNs)),
      "expected grants before the kill",
    );
    assert.ok(
      grants.some((grantedNs) => grantedNs > at(toNs)),
      "expected grants after the election",
    );
  });
});
