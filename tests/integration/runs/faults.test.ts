import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { pgDisconnect } from "../../../lib/faults/pg-disconnect";
import type { FaultRequest } from "../../../lib/faults/request";
import { overlapsIn } from "../../../lib/history/checkers/overlapping-holds";
import { parseHistory } from "../../../lib/history/parse";
import { emptyPercentiles } from "../../../lib/node/figures";
import { type RunDocument, runDocumentSchema } from "../../../lib/runs/document";
import { historyLines } from "../../../lib/runs/history-export";
import { isLabError } from "../../../lib/runs/lab-error";
import { readSamples } from "../../../lib/runs/queries";
import { listRuns } from "../../../lib/runs/run-list";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { elapsedMs } from "../../../lib/services/monotonic";
import { traitsOf } from "../../../lib/stock/stock-strategies";
import { useFaultLab } from "../../support/fault-lab";
import { requireEnv, setEnv } from "../../support/lab-env";
import { makeProduct } from "../../support/rows";
import { buyAt, type ShopAnswer, type ShopNode } from "../../support/shop-node";

requireEnv("DATABASE_URL", "REDIS_URL");
setEnv({ STORE_NODE: "faults-lab" });

/** A connection as if of a store node's pool. */
async function openAs(node: string): Promise<pg.Client> {
  const connectionString = process.env.DATABASE_URL;
  const client = new pg.Client({ connectionString, application_name: `flash-sale-lab ${node}` });
  await client.connect();
  return client;
}

const BUYERS = 80;
const SETTINGS = { stock: 60, vus: BUYERS, holdMs: 10, ttlMs: 1_000, waitTimeoutMs: 20_000 };

describe("a run with a fault", () => {
  const lab = useFaultLab();

  const open = (strategy: string, faults: readonly FaultRequest[], changes: object = {}) =>
    lab.coordinator.open(runRequestSchema.parse({ strategy, ...SETTINGS, ...changes, faults }));

  /** All buyers start together, alternating between the nodes. */
  async function sell(strategy: string, faults: readonly FaultRequest[] = [], changes: object = {}) {
    const opened = await open(strategy, faults, changes);
    const answers = await Promise.all(
      Array.from({ length: BUYERS }, (_, buyer) => {
        const node = lab.nodes[buyer % lab.nodes.length] as ShopNode;
        return buyAt(node.url, { productId: opened.target.id }, { userId: `buyer-${buyer}` });
      }),
    );
    return { document: await finish(opened), answers };
  }
  const finish = ({ id }: RunDocument) =>
    lab.coordinator.finish(id, {
      client: {
        engine: "test",
        iterations: BUYERS,
        droppedIterations: 0,
        failedRequests: 0,
        arrivalSkewMs: 1,
        latencyMs: emptyPercentiles,
      },
      awaitClientReport: false,
    });

  const verdictText = ({ verdict, sentences }: RunDocument) => `${verdict}: ${sentences.join(" ")}`;
  const codes = (answers: readonly ShopAnswer[]) => answers.map(({ body }) => body.error?.code);
  const lengthMs = ({ fromNs, toNs }: RunDocument["faults"][number]) => elapsedMs(BigInt(fromNs), BigInt(toNs));

  describe("pause-holder", () => {
    const pause: FaultRequest = { id: "pause-holder", atMs: 100 };

    it("makes redis-lock unsafe, and is in the samples of the run while it lasts", async () => {
      const { document } = await sell("redis-lock", [pause]);
      const [event] = document.faults;
      assert.ok(event, verdictText(document));
      assert.match(event.proof, /^node-1 was stopped for [\d.]+ m?s while buyer-\d+ .*held the lock/);
      assert.ok(lengthMs(event) > 2 * SETTINGS.ttlMs, event.proof);
      assert.deepEqual([document.verdict, document.expected], ["unsafe", "unsafe"], verdictText(document));
      assert.ok(document.violations.overlappingHolds > 0, verdictText(document));
      assert.ok(document.violations.lostUpdates + document.violations.oversold > 0, verdictText(document));
      assert.deepEqual([document.config.faults, document.missedFaults], [[pause], []]);
      const live = (await readSamples(document.id)).map(({ faults = [] }) => faults);
      assert.deepEqual(live[0], [{ id: "pause-holder", node: "node-1", isActive: false }]);
      assert.ok(
        live.some(([fault]) => fault?.isActive === true && fault.node === "node-1"),
        "expected a sample that names the fault and its node while it lasts",
      );
      const lastActive = live.findLastIndex(([fault]) => fault?.isActive === true);
      assert.deepEqual(live.slice(lastActive + 1).flat(), [], "expected no fault after the node answers again");
      assert.deepEqual(runDocumentSchema.parse(document), document);
    });

    it("can be armed while the run sells", async () => {
      const opened = await open("redis-lock", []);
      const purchases = Array.from({ length: BUYERS }, (_, buyer) => {
        const node = lab.nodes[buyer % lab.nodes.length] as ShopNode;
        return buyAt(node.url, { productId: opened.target.id }, { userId: `buyer-${buyer}` });
      });
      await Promise.race(purchases);
      const armed = await lab.coordinator.armFault(opened.id, { id: "pause-holder" });
      assert.equal(armed.expected, "unsafe");
      await Promise.all(purchases);
      const document = await finish(opened);
      assert.match(document.faults[0]?.proof ?? "", /^node-1 was stopped for/, verdictText(document));
      assert.deepEqual([document.verdict, document.expected], ["unsafe", "unsafe"], verdictText(document));
      assert.deepEqual(document.config, armed.config);
      assert.equal(document.config.faults?.[0]?.id, "pause-holder");
      const { runs } = await listRuns(10, { fault: "pause-holder" });
      assert.ok(
        runs.some(({ id }) => id === opened.id),
        "expected the run in the list of runs with this fault",
      );
      await assert.rejects(
        lab.coordinator.armFault(opened.id, { id: "pause-holder" }),
        /has ended with the status finished/,
      );
    });

    it("is in the exported history with its interval and its proof", async () => {
      const { document } = await sell("sql-row-lock", [pause]);
      assert.equal(document.verdict, "safe", verdictText(document));
      let history = "";
      for await (const chunk of historyLines(document)) history += chunk;
      const lines = history.split("\n");
      assert.deepEqual(
        lines.filter((line) => line.startsWith('{"type":"fault"')).map((line) => JSON.parse(line)),
        document.faults.map((fault) => ({ type: "fault", ...fault })),
      );
    });

    it("makes the run inconclusive if the lease cannot have ended within the pause", async () => {
      // A busy machine wakes the node late, but not after this lease.
      const { document } = await sell("redis-lock", [{ ...pause, durationMs: 300 }], { ttlMs: 10 * SETTINGS.ttlMs });
      assert.equal(document.verdict, "inconclusive", verdictText(document));
      assert.match(
        verdictText(document),
        /stopped for [\d.]+ m?s, and a lock whose holder stops can stay taken for 10\.0 s/,
      );
    });

    it("makes the run inconclusive if no buyer reaches the write to pause at", async () => {
      const { document } = await sell("redis-lock", [{ ...pause, atMs: 600_000 }]);
      assert.equal(document.verdict, "inconclusive", verdictText(document));
      assert.match(verdictText(document), /fault pause-holder was not seen to take effect: no buyer/);
      // The lease outlasts a stall of a busy machine.
      const next = await sell("redis-lock", [], { ttlMs: 10 * SETTINGS.ttlMs });
      assert.equal(next.document.verdict, "safe", "the pause must not happen in the next run");
    });
  });

  describe("slow-work", () => {
    const slow: FaultRequest = { id: "slow-work", atMs: 100 };
    const changes = { holdMs: 60, stock: 40 };

    it("does no harm under redis-lock: the slow holder finds its lease lost, and its release is not the owner's", async () => {
      const { document, answers } = await sell("redis-lock", [slow], changes);
      assert.equal(document.expected, "safe");
      // A busy machine may tell the slow holder of its loss a few milliseconds after the next grant: an overlap without a write.
      const { overlappingHolds, ...harm } = document.violations;
      assert.ok(overlappingHolds <= 1, verdictText(document));
      assert.deepEqual(
        Object.values(harm).filter((count) => Number(count) > 0),
        [],
        verdictText(document),
      );
      assert.equal(document.faults.length, 1);
      assert.ok(codes(answers).includes("lease_lost"), verdictText(document));
    });

    it("lets a third holder in under redis-set-px: the slow holder's DEL deletes the lock of the next one", async () => {
      // Chance decides whether the DEL falls into a hold, and whether a waiter polls before that hold ends.
      let third = 0;
      for (let round = 0; round < 5 && third === 0; round += 1) {
        const { document } = await sell("redis-set-px", [slow], changes);
        assert.deepEqual([document.verdict, document.expected], ["unsafe", "unsafe"], verdictText(document));
        const [slowHolder, proof] = [/buyer-\S+/, /worked \d+ ms longer on node-1 while it held the lock/].map(
          (part) => part.exec(document.faults[0]?.proof ?? "")?.[0],
        );
        assert.ok(slowHolder && proof, verdictText(document));
        const { history } = await parseHistory(historyLines(document));
        const isSlow = ({ buyerId }: { readonly buyerId: string }) => buyerId === slowHolder;
        third = overlapsIn(history).filter(({ first, second }) => !isSlow(first) && !isSlow(second)).length;
      }
      assert.ok(third > 0, "expected a third holder beside the second in one of five sales");
    });
  });

  describe("pg-disconnect", () => {
    it("leaves sql-row-lock safe: no acknowledged order is lost, and other buyers go on", async () => {
      const { document, answers } = await sell("sql-row-lock", [{ id: "pg-disconnect", atMs: 50 }]);
      assert.deepEqual([document.verdict, document.expected], ["safe", "safe"], verdictText(document));
      assert.match(
        document.faults[0]?.proof ?? "",
        /ended a connection of node-[12] that held .*its row in products \(idle in transaction\); connections ended: 1/,
      );
      // At most the purchase on the ended connection fails. If its COMMIT got no reply, its outcome is unknown.
      const { errors, unknown, sold } = document.counts;
      assert.ok(errors + unknown <= 1, verdictText(document));
      assert.deepEqual([document.stock.orders, document.stock.final], [60, 0]);
      assert.ok(sold >= 60 - unknown, verdictText(document));
      assert.equal(answers.filter(({ status }) => status === 201).length, sold);
    });

    it("ends the connection that holds the run's row, not one that holds another row", async () => {
      const [target, other] = [await makeProduct(5), await makeProduct(5)];
      const [holder, bystander] = [await openAs("node-1"), await openAs("node-1")];
      holder.on("error", () => {});
      const lost = new Promise((resolve) => holder.once("end", resolve));
      for (const [client, id] of [
        [bystander, other],
        [holder, target],
      ] as const) {
        await client.query("BEGIN");
        await client.query("UPDATE products SET stock = stock - 1 WHERE id = $1", [id]);
      }
      const unused = () => Promise.reject(new Error("pg-disconnect stops no node"));
      const { proof } = await pgDisconnect.inject({
        target: { kind: "product", id: target },
        traits: traitsOf("sql-row-lock"),
        ttlMs: 1_000,
        nodeNames: ["node-1"],
        atMs: 0,
        durationMs: 0,
        node: { name: "node-1", armStop: unused, stops: unused, disarmStops: unused },
        proxies: [],
        topology: null,
        untilDue: async () => {},
        closing: new AbortController().signal,
      });
      assert.match(proof, /its row in products \(idle in transaction\); connections ended: 1\.$/);
      await lost;
      assert.equal((await bystander.query("SELECT 1")).rowCount, 1, "the bystander's connection must stay open");
      await bystander.end();
    });
  });

  it("is rejected with the reason if it does not apply, before anything is created", async () => {
    const rejection = (strategy: string, fault: FaultRequest, changes?: object) =>
      open(strategy, [fault], changes).then(
        () => assert.fail("expected a LabError, but the run was opened"),
        (error: unknown) => (isLabError(error) ? `${error.code} ${error.message}` : assert.fail(String(error))),
      );
    const pause: FaultRequest = { id: "pause-holder" };
    assert.match(
      await rejection("sql-guarded", pause),
      /^fault_not_applicable .*it changes the stock in one operation/,
    );
    assert.match(await rejection("none", pause), /^fault_not_applicable .*it has no lock to hold/);
    assert.match(
      await rejection("redis-lock", pause, { nodes: 1 }),
      /^fault_not_applicable .*it needs a second store node/,
    );
    const elsewhere = { ...pause, node: "node-2" };
    assert.match(
      await rejection("redis-lock", { ...pause, node: "node-9" }),
      /^invalid_fault faults\.0\.node: "node-9"/,
    );
    assert.match(await rejection("redis-lock", elsewhere, { nodes: 1 }), /^fault_not_applicable/);
  });
});
