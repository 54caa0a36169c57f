import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { instancePaths } from "../../../bin/supervisor/paths";
import { TopologyHost } from "../../../bin/supervisor/topology-host";
import { topologiesById } from "../../../lib/faults/topologies/all-topologies";
import { ETCD_MEMBERS } from "../../../lib/faults/topologies/etcd-names";
import type { TopologyId } from "../../../lib/faults/topologies/ids";
import { ZK_LINKS, ZK_MEMBERS } from "../../../lib/faults/topologies/zk-names";
import { openEtcdGateway } from "../../../lib/locks/etcd/etcd-client";
import { openZkSession } from "../../../lib/locks/zookeeper/zk-session";
import { zooKeeperMode } from "../../../servers/zookeeper/provision";
import { waitUntil } from "../../support/wait-until";

const { dir } = instancePaths("ensembles-test");
const PORT_BASE = 20_050 + 100 * (process.pid % 35);
/** An election on a busy machine. */
const ELECTION_MS = 30_000;
const portOf = (address: string) => Number(new URL(`tcp://${address}`).port);

describe("ensembles of three servers", () => {
  const host = new TopologyHost({
    topologies: topologiesById,
    dataDir: path.join(dir, "data"),
    logsDir: path.join(dir, "logs"),
    portBase: PORT_BASE,
    events: { onChange: () => {}, onNote: () => {} },
  });
  before(() => void mkdirSync(path.join(dir, "logs"), { recursive: true }));
  after(async () => {
    await host.stopAll();
    rmSync(dir, { recursive: true, force: true });
  });
  const start = (id: TopologyId) =>
    host.start({ topology: id, databaseUrl: process.env.DATABASE_URL ?? "" }, AbortSignal.timeout(120_000));

  it("zk-3 elects another leader after a crash, keeps its nodes, and serves no client on a member that is cut off", async () => {
    const { running, addresses } = await start("zk-3");
    const mode = (member: string) => zooKeeperMode(portOf(addresses.processes[member] ?? ""));
    const withMode = async (wanted: string) => {
      const modes = await Promise.all(ZK_MEMBERS.map(async (member) => [member, await mode(member)] as const));
      return modes.filter(([, found]) => found === wanted).map(([member]) => member);
    };
    assert.equal((await withMode("follower")).length, 2);
    const [leader = ""] = await withMode("leader");
    await using session = openZkSession(addresses.servers.zookeeper ?? "");
    const connected = () => session.connected(AbortSignal.timeout(ELECTION_MS));
    await (await connected()).create("/before", "persistent");

    await running.kill(leader);
    const isElected = async () => (await withMode("leader")).length === 1;
    await waitUntil(isElected, { what: "another leader", withinMs: ELECTION_MS });
    const read = async () => (await connected()).read("/before").catch(() => null);
    await waitUntil(async () => (await read()) === "", {
      what: "the node that was created before",
      withinMs: ELECTION_MS,
    });
    await running.revive(leader);
    assert.equal(await mode(leader), "follower");

    for (const link of ZK_LINKS) await running.cut(link);
    await waitUntil(async () => (await mode("zk-1")) === "", { what: "zk-1 to stop serving", withinMs: ELECTION_MS });
    await waitUntil(isElected, { what: "a leader of the other two", withinMs: ELECTION_MS });
    assert.equal(await mode("zk-1"), "", "expected the member on the minority side to serve no client");
    for (const link of ZK_LINKS) await running.restore(link);
    await waitUntil(async () => (await withMode("follower")).length === 2, {
      what: "zk-1 to join again",
      withinMs: ELECTION_MS,
    });
  });

  it("etcd-3 elects another leader after a crash and keeps its keys", async () => {
    const { running, addresses } = await start("etcd-3");
    const urls = addresses.processes;
    const key = Buffer.from("before").toString("base64");
    await ask(urls["etcd-1"] ?? "", "/v3/kv/put", { key, value: key });
    const leader = await leaderOf(urls, ETCD_MEMBERS);
    await running.kill(leader);
    const others = ETCD_MEMBERS.filter((member) => member !== leader);
    const [first = "", second = ""] = others;
    const next = () => leaderOf(urls, others).catch(() => "");
    await waitUntil(async () => [first, second].includes(await next()), {
      what: "another leader",
      withinMs: ELECTION_MS,
    });
    const { kvs } = await ask<{ kvs?: { value: string }[] }>(urls[first] ?? "", "/v3/kv/range", { key });
    assert.equal(kvs?.[0]?.value, key);
    await running.revive(leader);
    assert.equal(await leaderOf(urls, ETCD_MEMBERS), await next(), "expected all members to have one leader");
  });
});

async function ask<T>(url: string, method: string, body: object): Promise<T> {
  const gateway = openEtcdGateway(url);
  try {
    return await gateway.post<T>(method, body);
  } finally {
    gateway.close();
  }
}

interface Status {
  readonly header: { readonly member_id: string };
  readonly leader?: string;
}

/** @returns the member that is its own leader; empty if there is none */
async function leaderOf(urls: Readonly<Record<string, string>>, members: readonly string[]): Promise<string> {
  for (const member of members) {
    const { header, leader } = await ask<Status>(urls[member] ?? "", "/v3/maintenance/status", {});
    if (leader === header.member_id) return member;
  }
  return "";
}
