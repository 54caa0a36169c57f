import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { FaultRequest } from "../../../lib/faults/request";
import type { Coordinator } from "../../../lib/runs/coordinator";
import type { RunDocument } from "../../../lib/runs/document";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { postgresPool } from "../../../lib/services/postgres";
import { openFaultLab } from "../../support/fault-lab";
import { requireEnv, setEnv } from "../../support/lab-env";
import { type OwnRedis, startOwnRedis } from "../../support/own-redis";
import { clientReport } from "../../support/run-lab";
import { buyAt, type ShopNode, startShopNodes } from "../../support/shop-node";

requireEnv("DATABASE_URL");
setEnv({ FAULTS_MAY_EMPTY: "redis,redlock", STORE_NODE: "redis-restart-lab" });

/** Work that lasts longer than Redis takes to restart and a waiter to find it. The lease outlasts the work. */
const LONG = { stock: 3, vus: 3, holdMs: 3_000, ttlMs: 10_000, waitTimeoutMs: 20_000 };
/** For sales without a fault, which need no long work. */
const SHORT = { holdMs: 200 };
const RESTART: FaultRequest = { id: "redis-restart", atMs: 100 };

describe("a run in which Redis loses a lock", () => {
  let nodes: readonly ShopNode[] = [];
  let redis: OwnRedis;
  let redlock: readonly OwnRedis[] = [];
  let lab: Coordinator;

  before(async () => {
    redis = await startOwnRedis({ isSupervised: true });
    redlock = await Promise.all(
      Array.from({ length: 5 }, (_, index) => startOwnRedis({ isSupervised: true, hasMovableClock: index === 2 })),
    );
    setEnv({ REDIS_URL: redis.url, REDLOCK_URLS: redlock.map(({ url }) => url).join(",") });
    nodes = await startShopNodes(["node-1", "node-2"], "sql-guarded");
    lab = await openFaultLab(nodes);
  });
  after(async () => {
    await lab?.stop();
    await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    await Promise.all([redis, ...redlock].map((server) => server?.[Symbol.asyncDispose]()));
    await postgresPool().end();
  });

  async function sell(strategy: string, faults: readonly FaultRequest[], changes: object = {}): Promise<RunDocument> {
    const request = runRequestSchema.parse({ strategy, ...LONG, ...changes, faults });
    const { id, target } = await lab.open(request);
    const buyers = Array.from({ length: request.vus }, (_, buyer) => {
      const node = nodes[buyer % nodes.length] as ShopNode;
      return buyAt(node.url, { productId: target.id }, { userId: `buyer-${buyer}` });
    });
    await Promise.all(buyers);
    return lab.finish(id, { client: clientReport(request.vus), awaitClientReport: false });
  }
  const verdictText = ({ verdict, sentences }: RunDocument) => `${verdict}: ${sentences.join(" ")}`;

  it("lets a second holder into redis-lock, which is safe without the fault", async () => {
    const control = await sell("redis-lock", [], SHORT);
    assert.deepEqual([control.verdict, control.expected], ["safe", "safe"], verdictText(control));
    const document = await sell("redis-lock", [RESTART]);
    assert.match(
      document.faults[0]?.proof ?? "",
      /^Redis process [0-9a-f]{40} ended while the key product:\d+ existed; process [0-9a-f]{40} answered \d+ ms later, without keys\.$/,
      verdictText(document),
    );
    assert.deepEqual([document.verdict, document.expected], ["unsafe", "unsafe"], verdictText(document));
    assert.ok(document.violations.overlappingHolds > 0, verdictText(document));
  });

  it("sets the fencing counter of redis-fenced back, so that its tokens no longer rise", async () => {
    const document = await sell("redis-fenced", [RESTART]);
    assert.deepEqual([document.verdict, document.expected], ["unsafe", "unsafe"], verdictText(document));
    assert.ok((document.violations.fencingOrder ?? 0) > 0, verdictText(document));
  });

  it("lets a second holder into redis-lock when Redis evicts the lock, and restores its settings", async () => {
    await redis.probe.config("SET", "maxmemory", "200mb", "maxmemory-policy", "allkeys-lfu");
    const document = await sell("redis-lock", [{ id: "redis-oom", atMs: 0 }]);
    assert.match(
      document.faults[0]?.proof ?? verdictText(document),
      /^Redis evicted product:\d+, whose lease had \d+ ms left; evicted keys: [1-9]\d*\.$/,
    );
    assert.deepEqual([document.verdict, document.expected], ["unsafe", "unsafe"], verdictText(document));
    assert.ok(document.violations.overlappingHolds > 0, verdictText(document));
    const settings = await redis.probe.config("GET", "maxmemory*");
    assert.deepEqual(
      [settings.includes("209715200"), settings.includes("allkeys-lfu")],
      [true, true],
      String(settings),
    );
  });

  it("leaves redis-fenced safe when Redis evicts the lock: its counter has no expiry and stays", async () => {
    const document = await sell("redis-fenced", [{ id: "redis-oom", atMs: 0 }]);
    assert.deepEqual(
      [document.verdict, document.expected, document.missedFaults],
      ["safe", "safe", []],
      verdictText(document),
    );
  });

  it("gives redlock to a second holder: one of the three servers that the first holder has forgets it", async () => {
    const control = await sell("redlock", [], SHORT);
    assert.deepEqual([control.verdict, control.expected], ["safe", "safe"], verdictText(control));
    const document = await sell("redlock", [{ id: "redlock-node-restart", atMs: 0 }]);
    assert.match(
      document.faults[0]?.proof ?? "",
      /^Servers 1 to 3 had the lock of [0-9a-z.-]+ while the others were cut off; server 3 ended \([0-9a-f]{40}\) and answered \d+ ms later/,
      verdictText(document),
    );
    assert.deepEqual([document.verdict, document.expected], ["unsafe", "unsafe"], verdictText(document));
    assert.ok(document.violations.overlappingHolds > 0, verdictText(document));
  });

  it("gives redlock to a second holder when the clock of one server jumps past the lease of the first", async () => {
    const [, , third] = redlock;
    const clockMs = async () => Number((await third?.probe.time())?.[0]) * 1_000;
    const document = await sell("redlock", [{ id: "clock-jump", atMs: 0 }]);
    const [, jumped] =
      /^Servers 1 to 3 had the lock of [0-9a-z.-]+ while .*; the clock of server 3 went ([\d.]+) s forward/.exec(
        document.faults[0]?.proof ?? "",
      ) ?? assert.fail(verdictText(document));
    assert.ok(Number(jumped) * 1_000 > LONG.ttlMs, document.faults[0]?.proof);
    assert.deepEqual([document.verdict, document.expected], ["unsafe", "unsafe"], verdictText(document));
    assert.ok(document.violations.overlappingHolds > 0, verdictText(document));
    assert.ok(Math.abs((await clockMs()) - Date.now()) < LONG.ttlMs / 2, "expected the clock to be right again");
  });

  it("makes the run inconclusive if no holder worked for longer than the restart took", async () => {
    // A single buyer: on a busy machine, work of 5 ms can outlast the restart, and a second buyer could enter.
    const document = await sell("redis-lock", [RESTART], { holdMs: 5, vus: 1, stock: 1_000_000 });
    assert.equal(document.verdict, "inconclusive", verdictText(document));
    assert.match(verdictText(document), /no holder worked for the whole fault|the load ended/);
  });
});
