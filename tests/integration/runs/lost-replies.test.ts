import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openLockView } from "../../../lib/faults/lock-owner";
import type { FaultRequest } from "../../../lib/faults/request";
import type { History } from "../../../lib/history/history";
import { parseHistory } from "../../../lib/history/parse";
import type { Coordinator } from "../../../lib/runs/coordinator";
import type { RunDocument } from "../../../lib/runs/document";
import { historyLines } from "../../../lib/runs/history-export";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { postgresPool } from "../../../lib/services/postgres";
import { traitsOf } from "../../../lib/stock/stock-strategies";
import { resourceOf } from "../../../lib/stock/types";
import { openFaultLab } from "../../support/fault-lab";
import { requireEnv, setEnv } from "../../support/lab-env";
import { openLockClients } from "../../support/lock-clients";
import { clientReport } from "../../support/run-lab";
import { buyAt, type ShopNode, startShopNodes } from "../../support/shop-node";

requireEnv("DATABASE_URL", "REDIS_URL", "REDLOCK_URLS", "ZOOKEEPER_HOSTS");
setEnv({ STORE_NODE: "lost-replies-lab" });

const BUYERS = 16;
/** Every buyer can buy, and waits for longer than a lease that was lost. */
const SETTINGS = { stock: BUYERS, vus: BUYERS, holdMs: 40, ttlMs: 1_000, waitTimeoutMs: 20_000 };

describe("a sale in which replies to a lock are lost or late", () => {
  let nodes: readonly ShopNode[] = [];
  let lab: Coordinator;

  before(async () => {
    nodes = await startShopNodes(["node-1", "node-2"], "sql-guarded");
    lab = await openFaultLab(nodes);
  });
  after(async () => {
    await lab?.stop();
    await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    await postgresPool().end();
  });

  /** All buyers start together. @throws AssertionError if the sale is not safe, or a buyer gets no unit */
  async function sell(strategy: string, faults: readonly FaultRequest[]) {
    const { id, target } = await lab.open(runRequestSchema.parse({ strategy, ...SETTINGS, faults }));
    const answers = await Promise.all(
      Array.from({ length: BUYERS }, (_, buyer) => {
        const node = nodes[buyer % nodes.length] as ShopNode;
        return buyAt(node.url, { productId: target.id }, { userId: `buyer-${buyer}` });
      }),
    );
    const document = await lab.finish(id, { client: clientReport(BUYERS), awaitClientReport: false });
    const found = `${document.verdict}: ${document.sentences.join(" ")} ${JSON.stringify(answers.map(({ body }) => body.error))}`;
    assert.deepEqual([document.verdict, document.expected, document.missedFaults ?? []], ["safe", "safe", []], found);
    assert.equal(document.counts.sold, BUYERS, found);
    const { history } = await parseHistory(historyLines(document));
    return { document, history, target };
  }
  const proofOf = ({ faults }: RunDocument) => faults[0]?.proof ?? "";
  const grantsDuring = ({ ops }: History, { faults }: RunDocument, afterMs = 0) =>
    ops.filter(({ grantedNs, clock }) => {
      const at = (reading = "0") => Number(BigInt(reading) - clock.originNs);
      const [fault] = faults;
      return grantedNs !== undefined && grantedNs > at(fault?.fromNs) + afterMs * 1e6 && grantedNs < at(fault?.toNs);
    });

  for (const strategy of ["zk-mutex", "zk-exclusive"]) {
    it(`sells on with ${strategy}, and no orphaned node stays, when the reply to a create is lost on each node`, async () => {
      const { document, target } = await sell(strategy, [{ id: "lost-create-reply", atMs: 0, durationMs: 600 }]);
      assert.match(
        proofOf(document),
        /^lost-create-reply acted on [12] connections? to ZooKeeper \(\d+ bytes\) of node-/,
      );
      await using view = openLockView(traitsOf(strategy), resourceOf(target));
      assert.equal(await view.owner(), null, "expected an empty queue after the sale");
    });
  }

  it("sells on with redis-reentrant when the messages to its waiters are lost with their connections", async () => {
    await sell("redis-reentrant", []);
    const { document, history } = await sell("redis-reentrant", [{ id: "lost-publish", atMs: 50, durationMs: 1_000 }]);
    assert.match(proofOf(document), /^lost-publish acted on \d+ connections? to Redis \(\d+ bytes\) of node-/);
    assert.ok(grantsDuring(history, document).length > 0, "expected waiters to be served while messages were lost");
  });

  it("grants redlock to no buyer while a majority answers later than the lease, and serves all of them afterwards", async () => {
    await sell("redlock", []);
    const { document, history, target } = await sell("redlock", [{ id: "slow-quorum", atMs: 50, durationMs: 1_500 }]);
    assert.match(proofOf(document), /^slow-quorum acted on \d+ connections? to Redlock \(\d+ bytes\) of node-/);
    // An attempt that was answered before the fault is granted within the time limit of one server.
    assert.deepEqual(grantsDuring(history, document, 200), []);
    const after = history.ops.filter(
      ({ grantedNs = 0, clock }) => grantedNs > Number(BigInt(document.faults[0]?.toNs ?? 0) - clock.originNs),
    );
    assert.ok(after.length > 0, "expected buyers who waited for the end of the fault");
    await using clients = openLockClients();
    const left = await Promise.all(clients.redlock().map((server) => server.call("EXISTS", resourceOf(target))));
    assert.deepEqual(left.map(Number), [0, 0, 0, 0, 0], "expected no vote to stay on a server");
  });
});
