import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { history, op } from "../history/testing/make-history";
import { stockStrategies, traitsOf } from "../stock/stock-strategies";
import type { Fault } from "./fault";
import { redisFailover } from "./redis-failover";
import { redisFailoverStaleReplica } from "./redis-failover-stale-replica";

const RUN = { ttlMs: 5_000, nodes: 3, fencing: true };
const MS = 1_000_000;

describe("redis-failover", () => {
  it("applies to the locks in one Redis whose lease outlasts a promotion", () => {
    const why = (id: string, ttlMs = RUN.ttlMs) =>
      redisFailover.whyNotApplicable({ ...RUN, ttlMs, traits: traitsOf(id) });
    for (const { traits } of stockStrategies.values()) {
      const isLockInRedis = traits.family === "redis" && traits.kind === "lock";
      assert.equal(why(traits.id) === null, isLockInRedis, `${traits.id}: ${why(traits.id)}`);
    }
    assert.match(why("redis-lock", 2_000) ?? "", /a lease of 2 s ends before the replica is promoted/);
    assert.equal(why("redis-setnx", 2_000), null, "a lock without expiry has no lease");
  });

  it("makes a lock unsafe, unless the grant waits for more replicas than can acknowledge it", () => {
    const effectsOf = (fault: Fault) =>
      [0, 1, 2].map((replicasToWaitFor) => {
        const traits = { ...traitsOf("redis-lock"), replicasToWaitFor };
        return fault.expectationOf({ ...RUN, traits }, 0).effect;
      });
    assert.deepEqual(effectsOf(redisFailover), ["unsafe", "safe", "safe"]);
    assert.deepEqual(effectsOf(redisFailoverStaleReplica), ["unsafe", "unsafe", "safe"]);
  });

  it("is proven only if a holder worked until after the promotion, where a lock can be granted", () => {
    const held = op({ invokedNs: 0, waitNs: 0, grantedNs: 90 * MS, releasedNs: 390 * MS, answeredNs: 390 * MS });
    const event = { fromNs: BigInt(100 * MS), toNs: BigInt(400 * MS) };
    const isProven = (fault: Fault, replicasToWaitFor: number) => {
      const traits = { ...traitsOf("redis-lock"), replicasToWaitFor };
      const why = fault.whyUnproven?.(history({ ops: [held] }), event, { traits, ttlMs: 20_000 });
      if (why) assert.match(why, /no holder worked for the whole fault/);
      return why === null;
    };
    assert.deepEqual(
      [0, 1].map((replicas) => isProven(redisFailover, replicas)),
      [false, true],
    );
    assert.deepEqual(
      [0, 1, 2].map((replicas) => isProven(redisFailoverStaleReplica, replicas)),
      [false, false, true],
    );
  });
});
