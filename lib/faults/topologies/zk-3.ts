import { mkdirSync } from "node:fs";
import path from "node:path";
import type { FoundServer } from "../../../servers/provisioning";
import { findZooKeeper, startZooKeeper, zooKeeperMode } from "../../../servers/zookeeper/provision";
import type { Topology, TopologyContext } from "./topology";
import { ZK_ISOLATED, ZK_LINKS, ZK_MEMBERS, type ZkMember } from "./zk-names";

/** Three ZooKeeper servers that elect a leader. One of them can be cut off from the others. */
export const zk3: Topology = {
  id: "zk-3",
  label: "three ZooKeeper servers",
  ports: {
    "zk-1": { port: 12_181, offset: 79 },
    "zk-2": { port: 12_182, offset: 80 },
    "zk-3": { port: 12_183, offset: 81 },
    "zk-1-quorum": { port: 12_888, offset: 82 },
    "zk-2-quorum": { port: 12_889, offset: 83 },
    "zk-3-quorum": { port: 12_890, offset: 84 },
    "zk-1-election": { port: 13_888, offset: 85 },
    "zk-2-election": { port: 13_889, offset: 86 },
    "zk-3-election": { port: 13_890, offset: 87 },
    "zk-1-quorum-link": { port: 12_891, offset: 88 },
    "zk-1-election-link": { port: 13_891, offset: 89 },
    "zk-2-quorum-link": { port: 12_892, offset: 90 },
    "zk-3-quorum-link": { port: 12_893, offset: 91 },
  },
  packages: { debian: ["zookeeper"], brew: "zookeeper" },
  find: findZooKeeper,

  async start(context, found) {
    for (const link of ZK_LINKS) await context.link(link, context.port(link.replace(/-link$/, "")));
    // None of them is ready before a majority has elected a leader.
    await Promise.all(ZK_MEMBERS.map((member) => startMember(context, member, found)));
    const addresses = ZK_MEMBERS.map((member) => `127.0.0.1:${context.port(member)}`);
    return {
      servers: { zookeeper: addresses.join(",") },
      processes: Object.fromEntries(ZK_MEMBERS.map((member, index) => [member, addresses[index] ?? ""])),
    };
  },
};

/** Times are ticks of half a second: a follower that hears nothing from its leader for two seconds stops serving clients. */
const LIMITS = ["initLimit=10", "syncLimit=4"];

async function startMember(context: TopologyContext, member: ZkMember, found: FoundServer): Promise<void> {
  const dataDir = path.join(context.dataDir, member);
  mkdirSync(dataDir, { recursive: true });
  const peers = ZK_MEMBERS.map((peer, index) => `server.${index + 1}=${peerAddress(context, member, peer)}`);
  const port = context.port(member);
  await startZooKeeper({ ...context, dataDir }, found, {
    name: member,
    port,
    ensemble: { id: ZK_MEMBERS.indexOf(member) + 1, lines: [...LIMITS, ...peers] },
    isReady: async () => /^(?:leader|follower)$/.test(await zooKeeperMode(port)),
  });
}

/** Where a member reaches another one, or where it listens itself. */
function peerAddress(context: TopologyContext, from: ZkMember, to: ZkMember): string {
  const crosses = from !== to && (from === ZK_ISOLATED || to === ZK_ISOLATED);
  const quorum = context.port(crosses ? `${to}-quorum-link` : `${to}-quorum`);
  const election = context.port(crosses && to === ZK_ISOLATED ? `${to}-election-link` : `${to}-election`);
  return `127.0.0.1:${quorum}:${election}`;
}
