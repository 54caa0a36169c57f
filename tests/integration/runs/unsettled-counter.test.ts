import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Coordinator } from "../../../lib/runs/coordinator";
import { NodeClient } from "../../../lib/runs/node-client";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { requireEnv, setEnv } from "../../support/lab-env";
import { clientReport } from "../../support/run-lab";
import { buyAt } from "../../support/shop-node";
import { type StoreLab, startStoreLab } from "../../support/store-lab";

requireEnv("DATABASE_URL", "REDIS_URL", "MEMCACHED_URL");
setEnv({ STORE_NODE: "count-test", LOCK_STRATEGY: "sql-guarded" });

const STOCK = 10;
const SOLD = 3;
const SETTLE_LIMIT_MS = 500;

describe("a run whose node dies between its counter and the order", () => {
  let lab: StoreLab;
  before(async () => {
    await prisma().run.updateMany({ where: { status: "running" }, data: { status: "failed" } });
    lab = await startStoreLab(["count-a", "count-b"]);
  });
  after(async () => {
    await lab[Symbol.asyncDispose]();
    await postgresPool().end();
  });

  /** Three sales on one node, and a purchase on the other, which is killed after it has taken its unit off the counter. */
  async function sellAndKill(strategy: string, settleLimitMs?: number) {
    const [first, second] = lab.nodes;
    assert.ok(first && second);
    const coordinator = new Coordinator({
      nodes: lab.nodes.map(({ url }, index) => new NodeClient({ name: `count-${"ab"[index]}`, url }, undefined)),
      expectedOf: () => "safe",
      versions: async () => ({ lab: "test" }),
      settleLimitMs,
    });
    const { id, target } = await coordinator.open(runRequestSchema.parse({ strategy, stock: STOCK, vus: SOLD + 1 }));
    const productId = target.id;
    await Promise.all(["x", "y", "z"].map((userId) => buyAt(second.url, { productId }, { userId })));
    await first.ask({ do: "stop before the order" });
    const lost = buyAt(first.url, { productId }, { userId: "lost" }).catch(() => null);
    await first.standsStill();
    await first.kill();
    await lost;
    const finish = () => coordinator.finish(id, { client: clientReport(SOLD + 1), awaitClientReport: false });
    return { first, coordinator, finish };
  }

  for (const strategy of ["redis-decrement", "memcached-cas"]) {
    it(`is inconclusive under ${strategy} while the node is down, because its purchase may continue`, async () => {
      const { first, coordinator, finish } = await sellAndKill(strategy, SETTLE_LIMIT_MS);
      const document = await finish();
      assert.equal(document.violations.undersold, 0, text(document));
      assert.equal(document.verdict, "inconclusive", text(document));
      assert.match(
        text(document),
        /not compared with the row: 1 unit was taken off it without an order 500 ms after the load \(counter 6, row 7\)/,
      );
      assert.deepEqual(document.stock, { initial: STOCK, final: STOCK - SOLD, orders: SOLD });

      await first.start();
      await coordinator.stop();
    });
  }

  for (const strategy of ["redis-decrement", "redis-watch", "memcached-cas"]) {
    it(`gets the unit of ${strategy} back once the node's next process serves the run`, async () => {
      const { first, coordinator, finish } = await sellAndKill(strategy);
      await first.start();
      const document = await finish();
      const left = STOCK - SOLD;
      assert.deepEqual(document.stock, { initial: STOCK, final: left, orders: SOLD, counter: left }, text(document));
      const { undersold, counterDrift } = document.violations;
      assert.deepEqual([undersold, counterDrift], [0, 0], text(document));
      assert.doesNotMatch(text(document), /not compared with the row/);
      await coordinator.stop();
    });
  }
});

const text = ({ sentences }: { readonly sentences: readonly string[] }) => sentences.join(" ");
