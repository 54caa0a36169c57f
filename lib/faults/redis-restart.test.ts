import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { history, type OpFields, op } from "../history/testing/make-history";
import { stockStrategies, traitsOf } from "../stock/stock-strategies";
import { redisRestart } from "./redis-restart";

const MS = 1_000_000;
const EVENT = { fromNs: BigInt(100 * MS), toNs: BigInt(400 * MS) };
const held = (fromMs: number, toMs: number, fields: OpFields = {}) =>
  op({ invokedNs: 0, waitNs: 0, grantedNs: fromMs * MS, releasedNs: toMs * MS, answeredNs: toMs * MS, ...fields });
const whyUnproven = (...ops: readonly ReturnType<typeof op>[]) =>
  redisRestart.whyUnproven?.(history({ ops }), EVENT, { traits: traitsOf("redis-lock"), ttlMs: 1_000 }) ?? null;

describe("redis-restart", () => {
  it("is proven only if a holder worked from before the end of Redis until after its start", () => {
    assert.equal(whyUnproven(held(90, 410)), null);
    for (const ops of [[held(90, 390)], [held(110, 410)], [held(90, 390), held(391, 900)]]) {
      assert.match(whyUnproven(...ops) ?? "", /choose longer work/);
    }
    assert.equal(whyUnproven(op({ answeredNs: 900 * MS })), null, "a counter has no holder");
  });

  it("applies to the strategies that keep their lock or their counter in the one Redis", () => {
    const applies = (id: string) =>
      redisRestart.whyNotApplicable({ traits: traitsOf(id), ttlMs: 1, nodes: 3, fencing: true }) === null;
    const expected = [...stockStrategies.keys()].filter((id) => id.startsWith("redis-"));
    assert.deepEqual([...stockStrategies.keys()].filter(applies), expected);
  });
});
