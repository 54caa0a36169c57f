import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type FoundServer, READY_TIMEOUT_MS, serverEnv } from "../../../servers/provisioning";
import { findRedis, redisInfo, startRedis } from "../../../servers/redis/provision";
import { MASTER, REPLICA, REPLICA_LINK, SENTINEL_NAME, SENTINELS } from "./sentinel-names";
import type { Topology, TopologyContext } from "./topology";

const QUORUM = 2;
const DOWN_AFTER_MS = 1_000;
/**
 * A Sentinel connects a replica whose master has another address than its own to the master directly, after this time. That
 * address is the link, so a Sentinel must never do it. After the master's end, a fault shortens this time (`SENTINEL SET`).
 */
const FAILOVER_TIMEOUT_MS = 24 * 60 * 60_000;

/** Redis, a replica behind a link, and three Sentinels that promote the replica when the master is down for a second. */
export const sentinel: Topology = {
  id: "sentinel",
  label: "Redis with a replica and three Sentinels",
  ports: {
    [MASTER]: { port: 16_479, offset: 60 },
    [REPLICA]: { port: 16_480, offset: 61 },
    [REPLICA_LINK]: { port: 16_481, offset: 62 },
    "sentinel-1": { port: 16_482, offset: 63 },
    "sentinel-2": { port: 16_483, offset: 64 },
    "sentinel-3": { port: 16_484, offset: 65 },
  },
  packages: { debian: ["redis-server"], brew: "redis" },
  find: findRedis,

  async start(context, found) {
    const master = await startRedis(context, { name: MASTER, binary: found.binary, args: WITHOUT_DELAY });
    const link = await context.link(REPLICA_LINK, context.port(MASTER));
    const replica = await startRedis(context, {
      name: REPLICA,
      binary: found.binary,
      args: [...WITHOUT_DELAY, "--replicaof", "127.0.0.1", String(link)],
      isReady: async (port) => /^master_link_status:up\r?$/m.test(await redisInfo(port, "replication")),
    });
    // A Sentinel that starts before the replica is connected finds it ten seconds later.
    await Promise.all(SENTINELS.map((name) => startSentinel(context, { name, found })));
    const ports = SENTINELS.map((name) => context.port(name));
    const sentinels = ports.map((port) => `127.0.0.1:${port}`);
    return {
      servers: { redis: `redis+sentinel://${sentinels.join(",")}/${SENTINEL_NAME}` },
      processes: {
        [MASTER]: master,
        [REPLICA]: replica,
        ...Object.fromEntries(SENTINELS.map((name, index) => [name, `redis://${sentinels[index]}`])),
      },
    };
  },
};

/** Redis waits five seconds for further replicas before it sends its data to one. */
const WITHOUT_DELAY = ["--repl-diskless-sync-delay", "0"];

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
    // It can lead a failover once it knows the replica and the other Sentinels.
    isReady: async () => /^master0:.*status=ok,.*slaves=1,sentinels=3\b/m.test(await redisInfo(port, "sentinel")),
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
