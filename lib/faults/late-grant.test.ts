import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { history, op } from "../history/testing/make-history";
import { stockStrategies, traitsOf } from "../stock/stock-strategies";
import { expectedInMatrix } from "./fault-effects";
import { lateGrant } from "./late-grant";

const MS = 1_000_000;
const EVENT = { fromNs: BigInt(100 * MS), toNs: BigInt(6_100 * MS) };
const held = (fromMs: number, toMs: number, node = "node-2") =>
  op({ node, invokedNs: 0, waitNs: 0, grantedNs: fromMs * MS, releasedNs: toMs * MS, answeredNs: toMs * MS });

describe("late-grant", () => {
  it("is proven only if purchases on two nodes waited without a holder for most of a lease", () => {
    const why = (ttlMs: number, ...ops: readonly ReturnType<typeof op>[]) =>
      lateGrant.whyUnproven?.(history({ ops }), EVENT, { traits: traitsOf("redis-lock"), ttlMs }) ?? null;
    const late = held(6_500, 6_600, "node-1");
    assert.equal(why(1_000, held(50, 300), held(900, 1_000), late), null);
    assert.match(why(1_000, held(50, 500), held(900, 6_900), late) ?? "", /400 ms at most, .* 600 ms$/);
    assert.match(
      why(1_000, held(50, 300), held(900, 6_900)) ?? "",
      / 0 ms at most/,
      "no purchase of another node waited",
    );
    assert.equal(why(3_000, held(50, 300), held(1_510, 6_900), late), null, "a request is given up after 2 s");
    assert.match(why(3_000, held(50, 300), held(1_490, 6_900), late) ?? "", /had the lock for 1\.20 s$/);
  });

  it("is not proven if it ended before a reply was late", () => {
    const ended = { ...EVENT, toNs: BigInt(1_500 * MS) };
    const why = lateGrant.whyUnproven?.(history({ ops: [] }), ended, { traits: traitsOf("redis-lock"), ttlMs: 1_000 });
    assert.match(why ?? "", /^it ended before the first reply was 1\.50 s late/);
  });

  it("applies to locks with a lease in one server, and makes those unsafe that do not check it", () => {
    const withResult = (result: string) =>
      [...stockStrategies.values()].flatMap(({ traits }) =>
        expectedInMatrix("late-grant", traits).expected === result ? [traits.id] : [],
      );
    const ownerless = ["redis-set-px", "redis-setnx-getset", "redis-setnx-script"];
    assert.deepEqual(withResult("unsafe"), ownerless);
    const { expected, reason } = expectedInMatrix("late-grant", traitsOf("redis-setnx-expire"));
    assert.deepEqual([expected, /is chance$/.test(reason)], ["not applicable", true]);
    const safe = ["redis-getset", "redis-lock", "redis-reentrant", "redis-fenced", "memcached-add", "etcd-lock"];
    assert.deepEqual(withResult("safe"), safe);
  });

  it("delays replies by more than the server keeps the lock", () => {
    const durationMs = (id: string, ttlMs: number) =>
      lateGrant.defaultDurationMs({ traits: traitsOf(id), ttlMs, nodes: 3, fencing: true });
    assert.deepEqual([durationMs("redis-lock", 1_000), durationMs("etcd-lock", 1_000)], [2_500, 4_301]);
    const why = (ttlMs: number) =>
      lateGrant.whyNotApplicable({ traits: traitsOf("redis-lock"), ttlMs, nodes: 3, fencing: true });
    assert.deepEqual([why(1_000), why(9_000)], [null, null]);
    assert.match(why(10_000) ?? "", /^a lease of 10 s outlasts the fault; choose at most 9 s$/);
  });
});
