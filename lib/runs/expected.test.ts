import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FaultRequest } from "../faults/request";
import { stockStrategies, traitsOf } from "../stock/stock-strategies";
import { type ExpectationTerms, expectedVerdict } from "./expected";

const calm: ExpectationTerms = { nodes: 3, holdMs: 5, ttlMs: 1_000 };
const expected = (strategy: string, change: Partial<ExpectationTerms> = {}) =>
  expectedVerdict(traitsOf(strategy), { ...calm, ...change });
const pause: FaultRequest = { id: "pause-holder" };

describe("the expected verdict", () => {
  it("comes from the strategy's traits for a run without a fault", () => {
    for (const [id, { traits }] of stockStrategies) {
      assert.equal(expected(id), traits.expected.threeNodes, id);
      assert.equal(expected(id, { nodes: 1 }), traits.expected.alone, id);
    }
  });

  it("is unsafe for work that takes as long as a lease without renewal", () => {
    for (const id of ["redis-set-px", "redis-setnx-script", "redis-setnx-getset"]) {
      assert.equal(expected(id, { holdMs: 999 }), "safe", id);
      assert.equal(expected(id, { holdMs: 1_000 }), "unsafe", id);
    }
    // In this order: renewed, never expires, extended by its waiters, no lease.
    for (const id of ["redis-lock", "redis-setnx", "redis-getset", "sql-row-lock"]) {
      assert.equal(expected(id, { holdMs: 5_000 }), "safe", id);
    }
  });

  it("is unsafe if a holder pauses past its lease and no fencing token stops its write", () => {
    for (const id of ["redis-lock", "redis-set-px", "redlock", "memcached-add", "zk-mutex"]) {
      assert.equal(expected(id, { faults: [pause] }), "unsafe", id);
    }
    for (const id of ["redis-fenced", "zk-fenced", "etcd-lock"]) {
      assert.equal(expected(id, { faults: [pause] }), "safe", id);
      assert.equal(expected(id, { faults: [pause], fencing: false }), "unsafe", id);
    }
    for (const id of ["sql-row-lock", "sql-advisory", "redis-setnx"]) {
      assert.equal(expected(id, { faults: [pause] }), "safe", id);
    }
    assert.equal(
      expected("redis-getset", { faults: [pause] }),
      "unsafe",
      "its write comes after the lease that it was granted",
    );
  });

  it("is unsafe if slow work outlasts a lease that its holder does not check", () => {
    const faults: FaultRequest[] = [{ id: "slow-work" }];
    for (const id of ["redis-set-px", "redis-setnx-expire", "redis-setnx-script", "redis-setnx-getset"]) {
      assert.equal(expected(id, { faults }), "unsafe", id);
      assert.equal(expected(id, { faults: [{ id: "slow-work", durationMs: 900 }] }), "safe", id);
    }
    for (const id of ["redis-lock", "redlock", "memcached-add", "zk-mutex", "redis-setnx", "sql-row-lock"]) {
      assert.equal(expected(id, { faults }), "safe", id);
    }
  });

  it("is safe if the pause ends before the server grants the lock to another holder", () => {
    assert.equal(expected("redis-lock", { faults: [{ ...pause, durationMs: 900 }] }), "safe");
    // Memcached rounds a TTL up to whole seconds, ZooKeeper uses the session timeout.
    assert.equal(expected("memcached-add", { faults: [{ ...pause, durationMs: 1_500 }] }), "safe");
    assert.equal(expected("zk-mutex", { faults: [{ ...pause, durationMs: 2_500 }] }), "safe");
  });
});
