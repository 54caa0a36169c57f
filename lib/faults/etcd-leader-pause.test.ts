import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { history, op } from "../history/testing/make-history";
import { stockStrategies, traitsOf } from "../stock/stock-strategies";
import { leaderOf, type MemberStatus } from "./etcd-cluster";
import { etcdLeaderPause } from "./etcd-leader-pause";

const RUN = { ttlMs: 5_000, nodes: 3, fencing: true };
const MS = 1_000_000;

describe("etcd-leader-pause", () => {
  it("applies to the strategies whose lock is in etcd, and expects them to be safe", () => {
    for (const { traits } of stockStrategies.values()) {
      const why = etcdLeaderPause.whyNotApplicable({ ...RUN, traits });
      assert.equal(why === null, traits.family === "etcd", `${traits.id}: ${why}`);
    }
    assert.equal(etcdLeaderPause.expectationOf({ ...RUN, traits: traitsOf("etcd-lock") }, 0).effect, "safe");
  });

  it("is proven only if a buyer held the lock when the pause began, and a purchase got it before the pause ended", () => {
    const event = { fromNs: BigInt(100 * MS), toNs: BigInt(400 * MS) };
    const bought = (fromMs: number, toMs: number) =>
      op({ invokedNs: 0, waitNs: 0, grantedNs: fromMs * MS, releasedNs: toMs * MS, answeredNs: toMs * MS });
    const why = (...ops: readonly ReturnType<typeof op>[]) =>
      etcdLeaderPause.whyUnproven?.(history({ ops }), event, { traits: traitsOf("etcd-lock"), ttlMs: 1_000 });
    assert.equal(why(bought(90, 110), bought(390, 420)), null);
    assert.match(why(bought(90, 99), bought(390, 420)) ?? "", /^no buyer held the lock/);
    assert.match(why(bought(90, 110), bought(410, 420)) ?? "", /^no purchase got the lock .*before the fault ended$/);
  });
});

describe("the leader of an etcd cluster", () => {
  const A = "14243217064425832";
  const B = "9372538179322589801";
  const status = (
    member: MemberStatus["member"],
    id: string,
    named: { readonly leader?: string; readonly raftTerm?: string } = {},
  ): MemberStatus => ({ member, header: { member_id: id }, raftTerm: "7", ...named });

  it("is the member that all members name in one term", () => {
    const leader = leaderOf([status("etcd-1", A, { leader: B }), status("etcd-2", B, { leader: B })]);
    assert.deepEqual(leader, { member: "etcd-2", id: "8211f1d0f64f3269", term: 7 });
  });

  it("is unknown while members disagree, name none, or do not answer", () => {
    const follower = status("etcd-1", A, { leader: B });
    for (const other of [
      status("etcd-2", B, { leader: B, raftTerm: "8" }),
      status("etcd-2", B, { leader: A }),
      status("etcd-2", B),
      undefined,
    ]) {
      assert.equal(leaderOf([follower, other]), undefined);
    }
    assert.equal(leaderOf([status("etcd-1", A), status("etcd-2", B)]), undefined);
  });
});
