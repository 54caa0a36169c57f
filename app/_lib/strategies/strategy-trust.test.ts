import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stockStrategies, traitsOf } from "@/lib/stock/stock-strategies";
import { promisesOf } from "./strategy-trust";

const trustsOf = (id: string) => promisesOf(traitsOf(id)).trusts.join(" ");

describe("what a strategy guarantees and trusts", () => {
  it("says something of every strategy", () => {
    for (const { traits } of stockStrategies.values()) {
      const { guarantees, trusts } = promisesOf(traits);
      assert.ok(guarantees.length > 0 && trusts.length > 0, traits.id);
    }
  });

  it("names the pause that a lease does not survive, and that a fencing token does", () => {
    assert.match(trustsOf("redis-lock"), /No holder pauses, or works, for longer than its lease/);
    assert.match(trustsOf("zk-mutex"), /longer than its session/);
    assert.doesNotMatch(trustsOf("redis-fenced"), /pauses, or works/);
    assert.match(promisesOf(traitsOf("redis-fenced")).guarantees.join(" "), /rejects the write of an earlier holder/);
  });

  it("names clocks, late releases and crashes where they matter", () => {
    assert.match(trustsOf("redis-getset"), /clocks of all store nodes agree/);
    assert.match(trustsOf("redis-set-px"), /deletes the lock of any holder/);
    assert.match(trustsOf("redis-setnx"), /No holder crashes/);
  });

  it("promises nothing where the strategy is unsafe", () => {
    assert.match(promisesOf(traitsOf("none")).guarantees.join(" "), /^Nothing/);
    assert.match(promisesOf(traitsOf("local-mutex")).guarantees.join(" "), /on one store node/);
  });
});
