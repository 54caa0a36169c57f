import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { history, op } from "../history/testing/make-history";
import { stockStrategies, traitsOf } from "../stock/stock-strategies";
import { zkLeaderKill } from "./zk-leader-kill";

const RUN = { ttlMs: 5_000, nodes: 3, fencing: true };
const MS = 1_000_000;

describe("zk-leader-kill", () => {
  it("applies to the strategies whose lock is in ZooKeeper, and expects them to be safe", () => {
    for (const { traits } of stockStrategies.values()) {
      const why = zkLeaderKill.whyNotApplicable({ ...RUN, traits });
      assert.equal(why === null, traits.family === "zookeeper", `${traits.id}: ${why}`);
    }
    assert.equal(zkLeaderKill.expectationOf({ ...RUN, traits: traitsOf("zk-mutex") }, 0).effect, "safe");
  });

  it("is proven only if a buyer held the lock at the kill and a purchase got it after the election", () => {
    const event = { fromNs: BigInt(100 * MS), toNs: BigInt(400 * MS) };
    const bought = (fromMs: number, toMs: number) =>
      op({ invokedNs: 0, waitNs: 0, grantedNs: fromMs * MS, releasedNs: toMs * MS, answeredNs: toMs * MS });
    const why = (...ops: readonly ReturnType<typeof op>[]) =>
      zkLeaderKill.whyUnproven?.(history({ ops }), event, { traits: traitsOf("zk-mutex"), ttlMs: 1_000 });
    assert.equal(why(bought(90, 110), bought(410, 420)), null);
    assert.match(why(bought(90, 99), bought(410, 420)) ?? "", /^no buyer held the lock/);
    assert.match(why(bought(90, 110), bought(390, 420)) ?? "", /^no purchase got the lock after the election$/);
  });
});
