import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { history, op } from "../history/testing/make-history";
import { stockStrategies, traitsOf } from "../stock/stock-strategies";
import type { ServerProxy } from "./run-proxies";
import { linksAcross, zkPartition } from "./zk-partition";

const RUN = { ttlMs: 5_000, nodes: 3, fencing: true };
const MS = 1_000_000;

describe("zk-partition", () => {
  it("applies to the strategies whose lock is in ZooKeeper on more than one node, and expects them to be safe", () => {
    for (const { traits } of stockStrategies.values()) {
      const why = zkPartition.whyNotApplicable({ ...RUN, traits });
      assert.equal(why === null, traits.family === "zookeeper", `${traits.id}: ${why}`);
    }
    const alone = { ...RUN, nodes: 1, traits: traitsOf("zk-mutex") };
    assert.match(zkPartition.whyNotApplicable(alone) ?? "", /second store node/);
    assert.equal(zkPartition.expectationOf(alone, 0).effect, "safe");
  });

  it("separates one node from the servers of the majority, and the other nodes from its server", () => {
    const [isolated = "", second = "", third = ""] = ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"];
    const proxies = ["node-1", "node-2"].flatMap((node) =>
      [isolated, second, third].map((upstream) => ({ node, server: "zookeeper", proxy: { upstream } })),
    ) as unknown as readonly ServerProxy[];
    const across = linksAcross(proxies, { node: "node-1", isolated });
    assert.deepEqual(
      across.map(({ node, proxy }) => [node, proxy.upstream]),
      [
        ["node-1", second],
        ["node-1", third],
        ["node-2", isolated],
      ],
    );
  });

  it("is proven only if another purchase got the lock during the partition, while the holder still worked", () => {
    const event = { fromNs: BigInt(100 * MS), toNs: BigInt(400 * MS) };
    const bought = (fromMs: number, toMs: number) =>
      op({ invokedNs: 0, waitNs: 0, grantedNs: fromMs * MS, releasedNs: toMs * MS, answeredNs: toMs * MS });
    const why = (...ops: readonly ReturnType<typeof op>[]) =>
      zkPartition.whyUnproven?.(history({ ops }), event, { traits: traitsOf("zk-mutex"), ttlMs: 1_000 });
    assert.equal(why(bought(90, 500), bought(390, 395)), null);
    assert.match(why(bought(90, 99), bought(390, 395)) ?? "", /^no buyer held the lock/);
    for (const [holder, next] of [
      [bought(90, 380), bought(390, 395)],
      [bought(90, 500), bought(410, 420)],
    ] as const) {
      assert.match(why(holder, next) ?? "", /^no purchase got the lock .* while the holder still worked$/);
    }
  });
});
