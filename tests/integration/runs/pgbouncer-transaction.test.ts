import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Coordinator } from "../../../lib/runs/coordinator";
import type { RunDocument } from "../../../lib/runs/document";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { postgresPool } from "../../../lib/services/postgres";
import { openFaultLab } from "../../support/fault-lab";
import { requireEnv, setEnv } from "../../support/lab-env";
import { clientReport } from "../../support/run-lab";
import { buyAt, type ShopNode, startShopNodes } from "../../support/shop-node";

requireEnv("DATABASE_URL", "LAB_CONTROL_FILE");
setEnv({ STORE_NODE: "pgbouncer-lab" });

const SALE = { strategy: "sql-advisory", stock: 40, vus: 40, holdMs: 10, waitTimeoutMs: 10_000 };
const verdictText = ({ verdict, sentences }: RunDocument) => `${verdict}: ${sentences.join(" ")}`;

for (const scope of ["session", "transaction"] as const) {
  describe(`sql-advisory with ${scope} locks`, () => {
    let nodes: readonly ShopNode[] = [];
    let lab: Coordinator;

    before(async () => {
      setEnv({ SQL_ADVISORY: scope });
      nodes = await startShopNodes(["node-1", "node-2"], "sql-guarded", { env: { SQL_ADVISORY: scope } });
      lab = await openFaultLab(nodes);
    });
    after(async () => {
      await lab?.stop();
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    });

    async function sell(changes: object): Promise<RunDocument> {
      const request = runRequestSchema.parse({ ...SALE, ...changes });
      const { id, target } = await lab.open(request);
      const buyers = Array.from({ length: request.vus }, (_, buyer) => {
        const node = nodes[buyer % nodes.length] as ShopNode;
        return buyAt(node.url, { productId: target.id }, { userId: `buyer-${buyer}` });
      });
      await Promise.all(buyers);
      return lab.finish(id, { client: clientReport(request.vus), awaitClientReport: false });
    }

    it("is safe on direct connections", async () => {
      const document = await sell({});
      assert.deepEqual([document.verdict, document.expected], ["safe", "safe"], verdictText(document));
    });

    const expected = scope === "session" ? "unsafe" : "safe";
    it(`is ${expected} through PgBouncer with transaction pooling`, async () => {
      const document = await sell({ faults: [{ id: "pgbouncer-transaction", atMs: 0 }] });
      assert.match(
        document.faults[0]?.proof ?? "",
        /^PgBouncer, in pool mode transaction, served \d+ transactions of \d+ client connections with \d+ server connections\.$/,
        verdictText(document),
      );
      assert.deepEqual([document.verdict, document.expected], [expected, expected], verdictText(document));
      const { overlappingHolds } = document.violations;
      assert.equal(overlappingHolds > 0, scope === "session", `${overlappingHolds} overlaps: ${verdictText(document)}`);
    });
  });
}

after(() => postgresPool().end());
