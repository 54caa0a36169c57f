import { mkdirSync } from "node:fs";
import path from "node:path";
import { findEtcd, startEtcd } from "../../../servers/etcd/provision";
import { ETCD_MEMBERS } from "./etcd-names";
import type { Topology } from "./topology";

/** A cluster of three etcd members. */
export const etcd3: Topology = {
  id: "etcd-3",
  label: "a cluster of three etcd members",
  ports: {
    "etcd-1": { port: 12_379, offset: 92 },
    "etcd-2": { port: 12_380, offset: 93 },
    "etcd-3": { port: 12_381, offset: 94 },
    "etcd-1-peer": { port: 12_382, offset: 95 },
    "etcd-2-peer": { port: 12_383, offset: 96 },
    "etcd-3-peer": { port: 12_384, offset: 97 },
  },
  packages: { debian: ["etcd-server"], brew: "etcd" },
  find: findEtcd,

  async start(context, found) {
    const peers = ETCD_MEMBERS.map((name) => `${name}=http://127.0.0.1:${context.port(`${name}-peer`)}`);
    // A member is healthy when a majority has elected a leader.
    const urls = await Promise.all(
      ETCD_MEMBERS.map((name) => {
        const dataDir = path.join(context.dataDir, name);
        mkdirSync(dataDir, { recursive: true });
        return startEtcd({ ...context, dataDir }, found, { name, peerPort: `${name}-peer`, cluster: peers.join(",") });
      }),
    );
    return {
      servers: { etcd: urls.join(",") },
      processes: Object.fromEntries(ETCD_MEMBERS.map((name, index) => [name, urls[index] ?? ""])),
    };
  },
};
