import assert from "node:assert/strict";
import { readdir, readFile, readlink } from "node:fs/promises";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { ArmedFault } from "../../../lib/faults/request";
import { type RunRequest, runRequestSchema } from "../../../lib/runs/run-request";
import { readSamplesAfter } from "../../../lib/runs/run-store";
import { useFaultLab } from "../../support/fault-lab";
import { verdictText } from "../../support/fault-sales";
import { requireEnv, setEnv } from "../../support/lab-env";
import { clientReport } from "../../support/run-lab";
import { buyAt, type ShopNode } from "../../support/shop-node";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL", "REDIS_URL", "REDLOCK_URLS", "MEMCACHED_URL", "ZOOKEEPER_HOSTS", "ETCD_URL");
setEnv({ STORE_NODE: "armed-network-faults-lab" });

const BUYERS = 8;
/** Between two purchases of a buyer: leaves the processors time to serve the purchases. */
const THINK_MS = 5;
/** Long enough for messages to each server, also on a busy machine. */
const FAULT_MS = 1_500;
/** Purchases before the fault is armed, and after it has ended. */
const SALES = 12;

const LISTEN = "0A";

/** The proxies listen in the process of the coordinator, which is this one. */
async function listeningSockets(): Promise<number> {
  const table = await readFile("/proc/self/net/tcp", "utf8");
  const rows = table.split("\n").map((row) => row.trim().split(/\s+/));
  const listening = new Set(rows.filter(([, , , state]) => state === LISTEN).map((row) => `socket:[${row[9]}]`));
  const files = await readdir("/proc/self/fd");
  const targets = await Promise.all(files.map((file) => readlink(`/proc/self/fd/${file}`).catch(() => "")));
  return targets.filter((target) => listening.has(target)).length;
}

describe("a sale in which a fault of the network is armed", () => {
  const lab = useFaultLab();

  /** Waits for a sample that was taken after this call and has no fault. */
  async function untilFaultsEnd(id: string): Promise<void> {
    const [newest] = (await readSamplesAfter(id, 0)).slice(-1);
    // The next sample may have been taken partly before this call.
    const afterSeq = (newest?.seq ?? 0) + 1;
    const hasEnded = async () => (await readSamplesAfter(id, afterSeq)).some(({ faults }) => faults?.length === 0);
    await waitUntil(hasEnded, { what: "the fault to end", withinMs: 30_000 });
  }

  /** Buyers contend for the lock from before the fault is armed until after its effect has ended. */
  async function sellWhile(armed: ArmedFault, request: Partial<RunRequest>) {
    // A lease longer than a busy machine stops a node: otherwise a lock without fencing tokens is not safe.
    const settings = { stock: 5_000, vus: BUYERS, holdMs: 5, ttlMs: 4_000, waitTimeoutMs: 15_000 };
    const before = await listeningSockets();
    const { id, target, config } = await lab.coordinator.open(runRequestSchema.parse({ ...settings, ...request }));
    const codes: string[] = [];
    let isOver = false;
    const buyer = async (number: number) => {
      const { url } = lab.nodes[number % config.nodes] as ShopNode;
      while (!isOver) {
        const { status, body } = await buyAt(url, { productId: target.id }, { userId: `buyer-${codes.length}` });
        codes.push(status === 201 ? "sold" : (body.error?.code ?? String(status)));
        await delay(THINK_MS);
      }
    };
    const sold = () => codes.filter((code) => code === "sold").length;
    const untilSold = (count: number) =>
      waitUntil(() => sold() >= count, { what: `${count} purchases`, withinMs: 30_000 });
    const buyers = Promise.all(Array.from({ length: BUYERS }, (_, number) => buyer(number)));
    try {
      await untilSold(SALES);
      assert.equal(await listeningSockets(), before, "expected no proxy in the path of a sale without a fault");
      const { config: withFault } = await lab.coordinator.armFault(id, armed);
      assert.deepEqual(
        withFault.faults?.map((fault) => fault.id),
        [armed.id],
      );
      await untilSold(sold() + SALES);
      await untilFaultsEnd(id);
      // Not during the fault: while a server is down, its proxies do not listen.
      assert.ok((await listeningSockets()) > before, "expected the proxies of the armed fault");
      await untilSold(sold() + SALES);
    } finally {
      isOver = true;
      await buyers;
    }
    const document = await lab.coordinator.finish(id, { client: clientReport(codes.length), awaitClientReport: false });
    assert.equal(await listeningSockets(), before, "expected the proxies to end with the run");
    return { document, codes };
  }

  const servers: Readonly<Record<string, string>> = {
    "sql-advisory": "PostgreSQL",
    "redis-lock": "Redis",
    "redis-decrement": "Redis",
    redlock: "Redlock",
    "memcached-add": "Memcached",
    "zk-mutex": "ZooKeeper",
    "etcd-lock": "etcd",
  };
  for (const [strategy, server] of Object.entries(servers)) {
    it(`leaves ${strategy} safe while its nodes move to proxies, and acts on their connections to ${server}`, async () => {
      const { document, codes } = await sellWhile({ id: "slicer", durationMs: FAULT_MS }, { strategy });
      assert.deepEqual([document.verdict, document.missedFaults], ["safe", []], verdictText(document));
      const [fault] = document.faults;
      assert.match(fault?.proof ?? "", new RegExp(`to ${server} \\(\\d+ bytes\\).* of node-1 and node-2\\.$`));
      const failed = codes.filter((code) => code !== "sold");
      assert.deepEqual(failed, [], "expected no purchase to fail because its node moved to proxies");
    });
  }

  it("leaves local-mutex safe on one node: the process keeps one mutex", async () => {
    const { document } = await sellWhile(
      { id: "latency", durationMs: FAULT_MS },
      { strategy: "local-mutex", nodes: 1 },
    );
    assert.deepEqual([document.verdict, document.missedFaults], ["safe", []], verdictText(document));
  });

  it("closes the connections of the named node only", async () => {
    const armed: ArmedFault = { id: "down", durationMs: 300, node: "node-2", server: "redis" };
    const { document } = await sellWhile(armed, { strategy: "redis-lock" });
    assert.deepEqual([document.verdict, document.missedFaults], ["safe", []], verdictText(document));
    assert.match(document.faults[0]?.proof ?? "", /^down acted on \d+ connections? to Redis \(0 bytes\) of node-2\.$/);
  });

  it("is missed, with the node and the reason, if a node does not move to its proxies", async () => {
    const settings = { strategy: "redis-lock", stock: 100, vus: 1, holdMs: 0, ttlMs: 2_000, waitTimeoutMs: 2_000 };
    const { id, target } = await lab.coordinator.open(runRequestSchema.parse(settings));
    await buyAt((lab.nodes[0] as ShopNode).url, { productId: target.id }, { userId: "first" });
    const node = lab.nodes[1] as ShopNode;
    await node.kill();
    try {
      await lab.coordinator.armFault(id, { id: "latency", durationMs: 300 });
      await untilFaultsEnd(id);
    } finally {
      await node.start();
    }
    const document = await lab.coordinator.finish(id, { client: clientReport(1), awaitClientReport: false });
    assert.equal(document.verdict, "inconclusive", verdictText(document));
    assert.match(document.missedFaults?.[0]?.reason ?? "", /^not every node switched to its proxies: node-2: /);
  });
});
