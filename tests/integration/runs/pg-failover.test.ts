import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { checkHistory } from "../../../lib/history/check-history";
import type { RunDocument } from "../../../lib/runs/document";
import { historyLines } from "../../../lib/runs/history-export";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { postgresPool } from "../../../lib/services/postgres";
import { useFaultLab } from "../../support/fault-lab";
import { verdictText } from "../../support/fault-sales";
import { requireEnv, setEnv } from "../../support/lab-env";
import { clientReport } from "../../support/run-lab";
import { buyAt, type ShopNode } from "../../support/shop-node";

requireEnv("DATABASE_URL", "LAB_CONTROL_FILE");
setEnv({ STORE_NODE: "pg-failover-lab" });

const SALE = { stock: 5_000, vus: 8, waitTimeoutMs: 5_000, faults: [{ id: "pg-failover" as const, atMs: 200 }] };
/** Between two purchases of a buyer. */
const THINK_MS = 20;
const SOLD_AFTER = 20;
const MAX_PURCHASES = 4_000;
const COMMITS = ["local", "remote_apply"] as const;

describe("a run whose PostgreSQL fails over to its replica", () => {
  const lab = useFaultLab();

  /** Buyers keep arriving until purchases have failed and later ones were sold again. */
  async function sell(strategy: string): Promise<RunDocument> {
    const request = runRequestSchema.parse({ ...SALE, strategy });
    const { id, target } = await lab.coordinator.open(request);
    let [sent, failed, soldAfter] = [0, 0, 0];
    const buyers = Array.from({ length: request.vus }, async (_, buyer) => {
      const { url } = lab.nodes[buyer % lab.nodes.length] as ShopNode;
      while (soldAfter < SOLD_AFTER && sent < MAX_PURCHASES) {
        sent += 1;
        const { status } = await buyAt(url, { productId: target.id }, { userId: `buyer-${sent}` });
        if (status >= 500) [failed, soldAfter] = [failed + 1, 0];
        else if (status === 201 && failed > 0) soldAfter += 1;
        await delay(THINK_MS);
      }
    });
    await Promise.all(buyers);
    return lab.coordinator.finish(id, { client: clientReport(sent), awaitClientReport: false });
  }

  for (const commit of COMMITS) {
    it(`with synchronous_commit = ${commit}`, async () => {
      setEnv({ PG_SYNCHRONOUS_COMMIT: commit });
      const document = await sell("sql-guarded");
      const isAsync = commit === "local";
      const proof = document.faults[0]?.proof ?? "";
      assert.match(
        proof,
        /^The primary's log was at [0-9A-F]+\/[0-9A-F]+ and the replica had it up to [0-9A-F]+\/[0-9A-F]+, [\d,]+ bytes less: .* The primary was killed, and \d+ ms later the replica was promoted: pg_is_in_recovery\(\) is false, on timeline 2\.$/,
        verdictText(document),
      );
      const onPrimary = Number(/: (\d+) orders? (?:was|were) on the primary only, and/.exec(proof)?.[1]);
      const waited = Number(/and (\d+) commits? waited for the replica\./.exec(proof)?.[1]);
      const verdict = isAsync ? "unsafe" : "safe";
      assert.deepEqual([document.verdict, document.expected], [verdict, verdict], verdictText(document));
      const { failoverLosses = 0, ...others } = document.violations;
      assert.deepEqual([...new Set(Object.values(others))], [0], verdictText(document));
      assert.equal(failoverLosses > 0, isAsync, verdictText(document));
      assert.deepEqual([onPrimary > 0, waited > 0], [isAsync, !isAsync], proof);

      const { rows } = await postgresPool().query("SELECT 1 FROM orders WHERE run_id = $1", [document.id]);
      assert.equal(rows.length, 0, "expected no order of the run in the lab's database");
      const checked = await checkHistory(historyLines(document));
      assert.equal(checked.violations.failoverLosses, failoverLosses, "expected the exported history to show the same");
    });
  }
});
