import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { history, type OpFields, op } from "../history/testing/make-history";
import { stockStrategies, traitsOf } from "../stock/stock-strategies";
import { expectedInMatrix } from "./fault-effects";
import { lateWrite } from "./late-write";
import { fakePostgresUnder, reply } from "./testing/fake-postgres";

const MS = 1_000_000;
const EVENT = { fromNs: BigInt(100 * MS), toNs: BigInt(5_000 * MS) };

describe("late-write", () => {
  it("holds one write back and delivers it although its client has gone", async (t) => {
    const { open, end, executed } = await fakePostgresUnder(lateWrite, t);
    const [first, second] = [await open(), await open()];
    assert.match(await reply(first, "B\0product_read\0"), /^reply/);
    first.write("B\0product_writeAbsolute\0", "latin1");
    // The proxy, which shares this event loop, has read the write before this answer takes its way.
    await reply(second, "SELECT\0");
    first.destroy();
    assert.match(await reply(second, "B\0product_writeAbsolute\0"), /INSERT 0 1/, "expected one write to be held back");
    const writes = () => executed.filter((statement) => statement.includes("_write"));
    assert.equal(writes().length, 1, "expected the first write to be in the network");
    const { proof } = await end();
    assert.equal(writes().length, 2);
    assert.match(
      proof,
      /^late-write acted on 1 connection to PostgreSQL \(24 bytes\) of node-1: the proxy held a write back for \d+(?:\.\d+)? m?s, and PostgreSQL answered it INSERT 0 1\.$/,
    );
  });

  it("is missed if no purchase was written", async (t) => {
    const { open, end } = await fakePostgresUnder(lateWrite, t);
    await open();
    await assert.rejects(end(), /^FaultMissed: no purchase was written on the node while it lasted/);
  });

  it("is proven only if the purchase was answered, and the lock granted again, before the write arrived", () => {
    const late = (fields: OpFields) =>
      op({ invokedNs: 0, grantedNs: 150 * MS, writeNs: 200 * MS, outcome: "unknown", ...fields });
    const why = (id: string, ...ops: readonly ReturnType<typeof op>[]) =>
      lateWrite.whyUnproven?.(history({ ops }), EVENT, { traits: traitsOf(id), ttlMs: 1_000 }) ?? null;
    const next = op({ invokedNs: 0, grantedNs: 4_000 * MS });
    assert.equal(why("redis-lock", late({ answeredNs: 3_000 * MS }), next), null);
    assert.match(why("redis-lock", late({ answeredNs: 3_000 * MS })) ?? "", /no other purchase got the lock/);
    assert.match(why("redis-lock", late({ answeredNs: 5_100 * MS }), next) ?? "", /choose a longer fault or a shorter/);
    assert.match(why("redis-lock", late({ answeredNs: 3_000 * MS, outcome: "sold" }), next) ?? "", /was answered/);
    assert.equal(why("sql-row-lock", late({ answeredNs: 3_000 * MS })), null, "its lock ends with the write");
  });

  it("makes locks unsafe whose write carries no token and does not end with the lock", () => {
    const withEffect = (effect: string) =>
      [...stockStrategies.values()].flatMap(({ traits }) =>
        traits.kind === "lock" && expectedInMatrix("late-write", traits).expected === effect ? [traits.id] : [],
      );
    const safe = ["sql-advisory", "sql-row-lock", "sql-table-lock", "redis-fenced", "zk-fenced", "etcd-lock"];
    assert.deepEqual(withEffect("safe"), safe);
    assert.deepEqual(withEffect("blocked"), ["redis-getset"]);
    assert.equal(withEffect("unsafe").length, 11);
    const run = { ttlMs: 1_000, nodes: 3, traits: traitsOf("redis-fenced") };
    assert.equal(lateWrite.expectationOf({ ...run, fencing: false }, 5_000).effect, "unsafe");
    assert.equal(lateWrite.expectationOf({ ...run, fencing: false }, 4_000).effect, "safe", "shorter than the hold");
  });
});
