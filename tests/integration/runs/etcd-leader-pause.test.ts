import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { useFaultSales, verdictText } from "../../support/fault-sales";
import { requireEnv, setEnv } from "../../support/lab-env";

requireEnv("DATABASE_URL", "ETCD_URL", "LAB_CONTROL_FILE");
setEnv({ STORE_NODE: "etcd-leader-pause-lab" });

const PROOF =
  /^(etcd-\d) \(id ([0-9a-f]+)\) led in term (\d+) and was stopped for [\d.]+ s while buyer-\d+(?:-\d+)? \([^)]+\) held the lock; after [\d.]+ m?s, (etcd-\d) \(id ([0-9a-f]+)\) led in term (\d+)\. After the pause, all members followed etcd-\d in term (\d+)\.$/;

describe("a sale through three etcd members whose leader is stopped", () => {
  const sell = useFaultSales({ stock: 5_000, vus: 4, holdMs: 10, ttlMs: 1_000, waitTimeoutMs: 25_000 });

  it("leaves etcd-lock safe: the others elect a leader and grant the lock while the old leader is stopped", async () => {
    const control = await sell("etcd-lock", [], { forMs: 500 });
    assert.deepEqual([control.document.verdict, control.document.expected], ["safe", "safe"]);

    const fault = { id: "etcd-leader-pause" as const, durationMs: 6_000 };
    const { document, history } = await sell("etcd-lock", [fault], { forMs: 8_000 });
    const { verdict, expected, missedFaults } = document;
    assert.deepEqual([verdict, expected, missedFaults], ["safe", "safe", []], verdictText(document));
    const { proof, fromNs, toNs } = document.faults[0] ?? assert.fail(verdictText(document));
    const [, before, beforeId, term, after, afterId, nextTerm, lastTerm] = PROOF.exec(proof) ?? assert.fail(proof);
    assert.ok(before !== after && beforeId !== afterId, proof);
    assert.ok(Number(nextTerm) > Number(term) && Number(lastTerm) >= Number(nextTerm), proof);

    const at = (reading: string) => Number(BigInt(reading) - (history.ops[0]?.clock.originNs ?? 0n));
    const grants = history.ops.flatMap(({ grantedNs }) => grantedNs ?? []);
    const between = grants.filter((grantedNs) => grantedNs > at(fromNs) && grantedNs < at(toNs));
    assert.ok(between.length > 0, "expected grants while the old leader was stopped");
    assert.ok(
      grants.some((grantedNs) => grantedNs > at(toNs)),
      "expected grants after the old leader continued",
    );
  });
});
