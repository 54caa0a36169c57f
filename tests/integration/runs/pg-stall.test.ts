import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { elapsedMs } from "../../../lib/services/monotonic";
import { useFaultSales, verdictText } from "../../support/fault-sales";
import { requireEnv, setEnv } from "../../support/lab-env";

requireEnv("DATABASE_URL", "REDIS_URL");
setEnv({ STORE_NODE: "pg-stall-lab" });

const STALL_MS = 4_000;

describe("a sale whose writes wait in PostgreSQL or on the way to it", () => {
  const sell = useFaultSales({ stock: 5_000, vus: 8, holdMs: 10, ttlMs: 1_000, waitTimeoutMs: 2_500 });
  /** Longer than a busy machine stops a node: otherwise a lock without fencing tokens is not safe. */
  const LEASE_MS = 4_000;

  for (const strategy of ["redis-lock", "sql-guarded"]) {
    it(`is safe with ${strategy}: a write that its client gave up takes effect as a whole or not at all`, async () => {
      const control = await sell(strategy, [], { forMs: 500, ttlMs: LEASE_MS });
      assert.equal(control.document.verdict, "safe", verdictText(control.document));
      const { document } = await sell(strategy, [{ id: "pg-stall", atMs: 50, durationMs: STALL_MS }], {
        // The lock of a write that was given up stays taken for one more lease.
        forMs: STALL_MS + LEASE_MS + 1_500,
        ttlMs: LEASE_MS,
      });
      const { verdict, expected, missedFaults } = document;
      assert.deepEqual([verdict, expected, missedFaults], ["safe", "safe", []], verdictText(document));
      const { proof, fromNs, toNs } = document.faults[0] ?? assert.fail(verdictText(document));
      const [, longest] =
        /^PostgreSQL held back \d+ statements? .*; the longest wait was ([\d.]+) s\.$/.exec(proof) ?? [];
      assert.ok(Number(longest) >= 1.5, proof);
      assert.ok(elapsedMs(BigInt(fromNs), BigInt(toNs)) >= STALL_MS, proof);
      const { errors, unknown, contended, sold } = document.counts;
      assert.ok(errors + unknown + contended > 0, "expected purchases that reached their limit");
      assert.ok(sold > 0, "expected the sale to go on after the stall");
    });
  }

  /** The write is given up after 3 s and the lease ends after 4 s. The rest is for a busy machine, on which both are late. */
  const LATE_MS = 7_000;
  const sellWithLateWrite = (strategy: string) =>
    sell(strategy, [{ id: "late-write", atMs: 50, durationMs: LATE_MS }], {
      forMs: LATE_MS + 500,
      waitTimeoutMs: 2_000,
    });

  it("is unsafe with redis-lock if a write reaches PostgreSQL after its lock has gone to the next buyer", async () => {
    const { document } = await sellWithLateWrite("redis-lock");
    const { verdict, expected, missedFaults } = document;
    assert.deepEqual([verdict, expected, missedFaults], ["unsafe", "unsafe", []], verdictText(document));
    assert.match(
      document.faults[0]?.proof ?? "",
      /held a write back for [\d.]+ s, and PostgreSQL answered it INSERT 0 1\.$/,
    );
  });

  it("is safe with redis-fenced, because PostgreSQL rejects the late write", async () => {
    const { document } = await sellWithLateWrite("redis-fenced");
    const { verdict, expected, missedFaults } = document;
    assert.deepEqual([verdict, expected, missedFaults], ["safe", "safe", []], verdictText(document));
    assert.match(document.faults[0]?.proof ?? "", /PostgreSQL answered it INSERT 0 0\.$/);
  });

  it("proves nothing if no buyer reaches a limit during the stall", async () => {
    const { document } = await sell("redis-lock", [{ id: "pg-stall", atMs: 50, durationMs: 300 }], {
      forMs: 1_000,
      waitTimeoutMs: 20_000,
    });
    assert.equal(document.verdict, "inconclusive", verdictText(document));
    assert.match(verdictText(document), /no purchase reached its limit during the stall/);
  });
});
