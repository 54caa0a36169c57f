import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { RunDocument } from "../../../lib/runs/document";
import { applyMigrations } from "../../../lib/services/migrations";
import { type OwnService, startOwnService } from "../../support/own-service";
import { clientReport } from "../../support/run-lab";
import { buyAt, ShopNode } from "../../support/shop-node";
import { post } from "../../support/store-lab";
import { waitUntil } from "../../support/wait-until";

const BUYERS = 12;
const STOCK = 5;
const ASK_EVERY_MS = 20;

describe("a run whose end meets an outage of PostgreSQL", () => {
  const spoolDir = mkdtempSync(join(tmpdir(), "postgres-outage-"));
  let postgres: OwnService;
  let node: ShopNode;

  before(async () => {
    postgres = await startOwnService("postgres");
    await applyMigrations(postgres.servers.postgres ?? "");
  });
  beforeEach(async () => {
    const env = {
      DATABASE_URL: postgres.servers.postgres ?? "",
      BUYER_RATE_PER_SECOND: "0",
      SPOOL_DIR: spoolDir,
      STORE_NODES: "",
      LOG_LEVEL: "fatal",
    };
    node = await ShopNode.start({ name: "outage-a", strategy: "sql-guarded", env });
  });
  afterEach(() => node[Symbol.asyncDispose]());
  after(async () => {
    await postgres[Symbol.asyncDispose]();
    rmSync(spoolDir, { recursive: true });
  });

  const open = () => post<RunDocument>(`${node.url}/api/runs`, { strategy: "sql-guarded", stock: STOCK, vus: BUYERS });
  const finish = (id: string) =>
    post<RunDocument>(`${node.url}/api/runs/${id}/finish`, { client: clientReport(BUYERS) });
  const read = async (id: string) => {
    const response = await fetch(`${node.url}/api/runs/${id}`);
    return response.ok ? ((await response.json()) as RunDocument) : null;
  };

  async function openAndSell(): Promise<string> {
    const { status, body } = await open();
    assert.equal(status, 201, JSON.stringify(body));
    const buyers = Array.from({ length: BUYERS }, (_, buyer) => `buyer-${buyer}`);
    await Promise.all(buyers.map((userId) => buyAt(node.url, { productId: body.target.id }, { userId })));
    return body.id;
  }

  async function finishDuringOutage(id: string): Promise<void> {
    await postgres.kill();
    const { status, body, headers } = await finish(id);
    assert.deepEqual([status, body.error?.code], [503, "backend_unavailable"], JSON.stringify(body));
    assert.equal(headers.get("retry-after"), "1");
  }

  /** The statuses of the API while PostgreSQL starts and recovers. */
  async function statusesDuring(work: Promise<void>): Promise<Set<number>> {
    const statuses = new Set<number>();
    let isOver = false;
    void work.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      statuses.add((await fetch(`${node.url}/api/runs`)).status);
      await delay(ASK_EVERY_MS);
    }
    await work;
    return statuses;
  }

  const hasEnded = async (id: string) => ((await read(id))?.status ?? "running") !== "running";

  it("ends with the report and everything that was measured as soon as PostgreSQL serves, and blocks no other run", async () => {
    const id = await openAndSell();
    await finishDuringOutage(id);
    const statuses = await statusesDuring(postgres.start());
    assert.deepEqual(
      [...statuses].filter((status) => status !== 200 && status !== 503),
      [],
    );
    await waitUntil(() => hasEnded(id), { what: "the run to end" });
    const document = await read(id);
    assert.deepEqual([document?.status, document?.verdict], ["finished", "safe"], document?.sentences.join(" "));
    assert.deepEqual([document?.counts.requests, document?.counts.sold], [BUYERS, STOCK]);
    assert.deepEqual([document?.client?.iterations, document?.stock.orders], [BUYERS, STOCK]);
    const next = await open();
    assert.equal(next.status, 201, JSON.stringify(next.body));
    await finish(next.body.id);
  });

  it("ends if the process that coordinates it restarts before PostgreSQL does, with what its nodes have kept", async () => {
    const id = await openAndSell();
    await finishDuringOutage(id);
    await node.kill();
    await node.start();
    await postgres.start();
    await waitUntil(() => hasEnded(id), { what: "the run to end" });
    const document = await read(id);
    assert.equal(document?.status, "failed", document?.sentences.join(" "));
    assert.equal(document?.sentences[0], "The outage-a process restarted during the run.");
    assert.deepEqual(document?.stock, { initial: STOCK, final: 0, orders: STOCK });
    assert.equal(document?.violations.oversold, 0);
    const next = await open();
    assert.equal(next.status, 201, JSON.stringify(next.body));
    await finish(next.body.id);
  });
});
