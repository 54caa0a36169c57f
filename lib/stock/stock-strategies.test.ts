import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLock, type LockDependencies, lockEntries } from "../locks/create-lock";
import { stockStrategies, traitsOf } from "./stock-strategies";
import { FakePostgres } from "./testing/fake-postgres";

describe("the list of strategies", () => {
  it("has every lock and every atomic strategy under its id", () => {
    for (const id of lockEntries.keys()) assert.ok(stockStrategies.has(id), `expected the lock ${id}`);
    for (const [id, { traits }] of stockStrategies) assert.equal(traits.id, id);
    const atomic = [...stockStrategies.values()].filter(({ traits }) => traits.kind === "atomic");
    assert.equal(stockStrategies.size, lockEntries.size + atomic.length);
  });

  it("goes from no lock to a coordination service, and from unsafe to safe within a family", () => {
    const ids = [...stockStrategies.keys()];
    assert.deepEqual([ids[0], ids.at(-1)], ["none", "etcd-lock"]);
    for (const [less, more] of [
      ["sql-decrement", "sql-guarded"],
      ["redis-setnx-expire", "redis-lock"],
      ["redis-lock", "redis-fenced"],
      ["zk-mutex", "zk-fenced"],
    ] as const)
      assert.ok(ids.indexOf(less) < ids.indexOf(more), `expected ${less} before ${more}`);
  });

  for (const [id, variable, setting] of [
    ["sql-advisory", "SQL_ADVISORY", { advisory: "session" }],
    ["sql-row-lock", "SQL_ROW_LOCK", { rowLock: "nowait" }],
    ["redis-lock", "REDIS_WAIT_REPLICAS", { redisWaitReplicas: 1 }],
  ] as const)
    it(`describes the variant of ${id} that ${variable} selects, which the store nodes use`, () => {
      const [value = ""] = Object.values<string | number>(setting).map(String);
      const byDefault = traitsOf(id);
      process.env[variable] = value;
      try {
        const postgres = {
          ...new FakePostgres(),
          sessionPool: () => assert.fail("connected"),
          rowOf: () => null,
          ...setting,
        };
        const { traits } = createLock(id, {
          postgres: () => postgres,
          redis: () => ({}),
          ...setting,
        } as unknown as LockDependencies);
        assert.notDeepEqual(traits, byDefault);
        assert.deepEqual(traitsOf(id), traits);
        assert.deepEqual(stockStrategies.get(id)?.traits, traits);
      } finally {
        delete process.env[variable];
      }
    });

  it("names the valid ids when an id is unknown", () => {
    assert.throws(() => traitsOf("redis-magic"), /"redis-magic".*none, .*etcd-lock/);
  });
});
