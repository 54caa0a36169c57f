import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type FoundServer, READY_TIMEOUT_MS, serverEnv } from "../../../servers/provisioning";
import { findRedis, redisInfo, startRedis } from "../../../servers/redis/provision";
import { MASTER, REPLICA_LINKS, REPLICAS, SENTINEL_NAME, SENTINELS } from "./sentinel-names";
import type { Topology, TopologyContext } from "./topology";

const QUORUM = 2;
const DOWN_AFTER_MS = 1_000;
/**
 * A Sentinel connects a replica whose master has another address than its own to the master directly, after this time. That
 * address is the link, so a Sentinel must never do it. After the master's end, a fault shortens this time (`SENTINEL SET`).
 */
const FAILOVER_TIMEOUT_MS = 24 * 60 * 60_000;

/** Redis, two replicas behind links, and three Sentinels that promote the first one when the master is down for a second. */
export const sentinel: Topology = {
  id: "sentinel",
  label: "Redis with two replicas and three Sentinels",
  ports: {
    [MASTER]: { port: 16_479, offset: 60 },
    "sentinel-replica-1": { port: 16_480, offset: 61 },
    "sentinel-link-1": { port: 16_481, offset: 62 },
    "sentinel-1": { port: 16_482, offset: 63 },
    "sentinel-2": { port: 16_483, offset: 64 },
    "sentinel-3": { port: 16_484, offset: 65 },
    "sentinel-replica-2": { port: 16_485, offset: 71 },
    "sentinel-link-2": { port: 16_486, offset: 72 },
  },
  packages: { debian: ["redis-server"], brew: "redis" },
  find: findRedis,

  async start(context, found) {
    const master = await startRedis(context, { name: MASTER, binary: found.binary, args: WITHOUT_DELAY });
    const replicas = await Promise.all(REPLICAS.map((name) => startReplica(context, { name, found })));
    // A Sentinel that starts before the replicas are connected finds them ten seconds later.
    await Promise.all(SENTINELS.map((name) => startSentinel(context, { name, found })));
    const ports = SENTINELS.map((name) => context.port(name));
    const sentinels = ports.map((port) => `127.0.0.1:${port}`);
    return {
      servers: { redis: `redis+sentinel://${sentinels.join(",")}/${SENTINEL_NAME}` },
      processes: {
        [MASTER]: master,
        ...Object.fromEntries(REPLICAS.map((name, index) => [name, replicas[index] ?? ""])),
        ...Object.fromEntries(SENTINELS.map((name, index) => [name, `redis://${sentinels[index]}`])),
      },
    };
  },
};

/** Redis waits five seconds for further replicas before it sends its data to one. */
const WITHOUT_DELAY = ["--repl-diskless-sync-delay", "0"];

async function startReplica(
  context: TopologyContext,
  { name, found }: { readonly name: (typeof REPLICAS)[number]; readonly found: FoundServer },
): Promise<string> {
  const link = await context.link(REPLICA_LINKS[name], context.port(MASTER));
  const settings = {
    replicaof: ["127.0.0.1", String(link)],
    // The lowest number is promoted first.
    "replica-priority": [String(1 + REPLICAS.indexOf(name))],
    // They share a folder.
    dbfilename: [`${name}.rdb`],
  };
  return startRedis(context, {
    name,
    binary: found.binary,
    args: [...WITHOUT_DELAY, ...Object.entries(settings).flatMap(([key, values]) => [`--${key}`, ...values])],
    isReady: async (port) => /^master_link_status:up\r?$/m.test(await redisInfo(port, "replication")),
  });
}

async function startSentinel(
  context: TopologyContext,
  { name, found }: { readonly name: string; readonly found: FoundServer },
): Promise<void> {
  const port = context.port(name);
  const dir = path.join(context.dataDir, name);
  mkdirSync(dir, { recursive: true });
  // A Sentinel writes what it finds into its configuration file.
  const config = path.join(dir, "sentinel.conf");
  writeFileSync(config, configText(port, context.port(MASTER)));
  await context.start({
    name,
    command: found.binary,
    args: [config, "--sentinel"],
    cwd: dir,
    env: serverEnv(),
    logFile: path.join(context.logsDir, `${name}.log`),
    readyTimeoutMs: READY_TIMEOUT_MS,
    // It can lead a failover once it knows the replicas and the other Sentinels.
    isReady: async () => /^master0:.*status=ok,.*slaves=2,sentinels=3\b/m.test(await redisInfo(port, "sentinel")),
  });
}

function configText(port: number, masterPort: number): string {
  return [
    `port ${port}`,
    "bind 127.0.0.1",
    `sentinel monitor ${SENTINEL_NAME} 127.0.0.1 ${masterPort} ${QUORUM}`,
    `sentinel down-after-milliseconds ${SENTINEL_NAME} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${SENTINEL_NAME} ${FAILOVER_TIMEOUT_MS}`,
    "",
  ].join("\n");
}
