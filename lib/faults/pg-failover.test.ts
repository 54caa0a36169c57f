import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stockStrategies, traitsOf } from "../stock/stock-strategies";
import type { Injection } from "./fault";
import { pgFailover } from "./pg-failover";

const RUN = { ttlMs: 5_000, nodes: 3, fencing: true };
const effects = ({ ttlMs } = RUN) =>
  [...stockStrategies.values()].flatMap(({ traits }) => {
    const run = { ...RUN, ttlMs, traits };
    return pgFailover.whyNotApplicable(run) === null ? [[traits.id, pgFailover.expectationOf(run, 0).effect]] : [];
  });

describe("pg-failover", () => {
  it("applies to every strategy whose stock is in PostgreSQL", () => {
    const applies = new Set(effects().map(([id]) => id));
    const others = [...stockStrategies.keys()].filter((id) => !applies.has(id));
    assert.deepEqual(others, ["redis-decrement", "redis-watch", "memcached-cas"]);
  });

  it("loses orders of every strategy, unless commits wait for the replica", () => {
    assert.deepEqual([...new Set(effects().map(([, effect]) => effect))], ["unsafe"]);
    process.env.PG_SYNCHRONOUS_COMMIT = "remote_apply";
    try {
      const others = effects().filter(([, effect]) => effect !== "safe");
      assert.deepEqual(others, [["redis-getset", "blocked"]], "expected only the lock that waiters extend to block");
      const unsafe = effects({ ...RUN, ttlMs: 1_000 }).flatMap(([id, effect]) => (effect === "unsafe" ? [id] : []));
      const unrenewed = ["redis-setnx-expire", "redis-set-px", "redis-setnx-getset", "redis-setnx-script"];
      assert.deepEqual(unsafe, unrenewed, "expected leases to end while a commit waits if nothing renews them");
    } finally {
      delete process.env.PG_SYNCHRONOUS_COMMIT;
    }
  });

  it("is missed without its topology", async () => {
    const injection = { topology: null, traits: traitsOf("sql-guarded") } as unknown as Injection;
    await assert.rejects(pgFailover.inject(injection), /the run has no topology/);
  });
});
