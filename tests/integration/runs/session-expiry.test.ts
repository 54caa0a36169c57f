import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { FaultRequest } from "../../../lib/faults/request";
import { parseHistory } from "../../../lib/history/parse";
import type { Coordinator } from "../../../lib/runs/coordinator";
import type { RunDocument } from "../../../lib/runs/document";
import { historyLines } from "../../../lib/runs/history-export";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { postgresPool } from "../../../lib/services/postgres";
import { openFaultLab } from "../../support/fault-lab";
import { requireEnv, setEnv } from "../../support/lab-env";
import { clientReport } from "../../support/run-lab";
import { buyAt, type ShopNode, startShopNodes } from "../../support/shop-node";

requireEnv("DATABASE_URL", "ZOOKEEPER_HOSTS", "ETCD_URL");
setEnv({ STORE_NODE: "session-expiry-lab" });

const SETTINGS = { stock: 12, vus: 16, holdMs: 20, ttlMs: 1_000, waitTimeoutMs: 25_000 };

describe("a run in which the holder's node is cut off until its session has expired", () => {
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

  async function sell(strategy: string, faults: readonly FaultRequest[]) {
    const request = runRequestSchema.parse({ strategy, ...SETTINGS, faults });
    const { id, target } = await lab.open(request);
    const answers = await Promise.all(
      Array.from({ length: request.vus }, (_, buyer) => {
        const node = nodes[buyer % nodes.length] as ShopNode;
        return buyAt(node.url, { productId: target.id }, { userId: `buyer-${buyer}` });
      }),
    );
    const document = await lab.finish(id, { client: clientReport(request.vus), awaitClientReport: false });
    return { document, codes: answers.map(({ body }) => body.error?.code) };
  }
  const text = ({ verdict, sentences }: RunDocument) => `${verdict}: ${sentences.join(" ")}`;

  const owners: Readonly<Record<string, RegExp>> = {
    "zk-fenced": /\/locks\/product:\d+\/_c_[0-9a-f-]+-lock-\d{10} of session 0x[0-9a-f]+ was gone after [\d.]+ s\.$/,
    "zk-exclusive": /\/exclusive-locks\/product:\d+ of session 0x[0-9a-f]+ was gone after [\d.]+ s\.$/,
    "etcd-lock": /locks\/product:\d+\/([0-9a-f]+) of lease \1 was gone after [\d.]+ s\.$/,
  };
  for (const [strategy, owner] of Object.entries(owners)) {
    it(`leaves ${strategy} safe: the holder detects the loss, and its client no longer owns the lock`, async () => {
      const control = await sell(strategy, []);
      assert.deepEqual([control.document.verdict, control.document.expected], ["safe", "safe"], text(control.document));
      assert.ok(!control.codes.includes("lease_lost"), "expected no lost lease without the fault");

      const { document, codes } = await sell(strategy, [{ id: "session-expiry", atMs: 0 }]);
      assert.deepEqual([document.verdict, document.expected], ["safe", "safe"], text(document));
      const [event] = document.faults;
      assert.match(event?.proof ?? text(document), /^node-1 was cut off for [\d.]+ s while buyer-\d+ \([^)]+\) held/);
      assert.match(event?.proof ?? "", owner);
      assert.equal(codes.filter((code) => code === "lease_lost").length, 1, String(codes));

      const { history } = await parseHistory(historyLines(document));
      const cutOff = history.ops.find(({ buyerId }) => event?.proof.includes(`${buyerId} (`));
      assert.ok(cutOff?.leaseLostNs !== undefined, "expected the holder that was cut off to record its loss");
      assert.equal(cutOff.writeNs, undefined, "expected no write after the loss");
      const soldDuring = history.ops.filter(
        ({ committedNs = 0, clock }) =>
          committedNs > Number(BigInt(event?.fromNs ?? 0) - clock.originNs) &&
          committedNs < Number(BigInt(event?.toNs ?? 0) - clock.originNs),
      );
      assert.ok(soldDuring.length > 0, "expected the other node to sell while the first one was cut off");
    });
  }
});
