import { rmSync } from "node:fs";
import path from "node:path";
import { findPostgresBinaries } from "../../../servers/postgres/binaries";
import {
  copyAsStandby,
  createCluster,
  createDatabase,
  startCluster,
  urlOf,
  withClient,
} from "../../../servers/postgres/cluster";
import { choosePostgresHome } from "../../../servers/postgres/home";
import { PG_CLIENT_LINK, PG_PRIMARY, PG_REPLICA, PG_REPLICA_LINK } from "./pg-replica-names";
import type { Topology } from "./topology";

const REPLAY_LIMIT_MS = 10_000;

/**
 * PostgreSQL with a streaming replica behind a link. A commit waits for the replica if its session sets `synchronous_commit` to
 * `remote_write`, `on` or `remote_apply`; by default it does not.
 */
export const pgReplica: Topology = {
  id: "pg-replica",
  label: "PostgreSQL with a streaming replica",
  ports: {
    [PG_PRIMARY]: { port: 16_433, offset: 67 },
    [PG_REPLICA]: { port: 16_434, offset: 68 },
    [PG_REPLICA_LINK]: { port: 16_435, offset: 69 },
    [PG_CLIENT_LINK]: { port: 16_436, offset: 70 },
  },
  packages: { debian: ["postgresql"], brew: "postgresql" },
  find: findPostgresBinaries,

  async start(context, found) {
    const home = await choosePostgresHome({
      postgresBinary: found.binary,
      wantedDir: context.dataDir,
      sharedName: path.relative(process.cwd(), context.dataDir).replaceAll(path.sep, "-"),
    });
    context.deleteAtEnd(home.dataDir);
    const [primary, replica] = [path.join(home.dataDir, PG_PRIMARY), path.join(home.dataDir, PG_REPLICA)];
    // A supervisor that was killed leaves them.
    for (const dir of [primary, replica]) rmSync(dir, { recursive: true, force: true });
    await createCluster(home, primary);
    // The embedded programs have no pg_basebackup. A copy of a cluster that never ran has the same identity.
    await copyAsStandby(home, primary, replica);
    const primaryUrl = await startCluster(context, {
      name: PG_PRIMARY,
      home,
      cluster: primary,
      settings: {
        // The replica finds what it missed during a cut of its link.
        wal_keep_size: "1GB",
        synchronous_standby_names: quoted(PG_REPLICA),
        synchronous_commit: "local",
      },
    });
    const port = context.port(PG_PRIMARY);
    const link = await context.link(PG_REPLICA_LINK, port);
    const replicaUrl = await startCluster(context, {
      name: PG_REPLICA,
      home,
      cluster: replica,
      settings: {
        primary_conninfo: `host=127.0.0.1 port=${link} user=lab application_name=${PG_REPLICA}`,
        wal_retrieve_retry_interval: "100ms",
      },
      isReady: isStreaming,
    });
    const clients = await context.link(PG_CLIENT_LINK, port);
    await createDatabase(port);
    await untilReplayed(primaryUrl);
    return {
      servers: { postgres: urlOf(clients) },
      processes: { [PG_PRIMARY]: primaryUrl, [PG_REPLICA]: replicaUrl },
    };
  },
};

/** PostgreSQL reads the names as identifiers, in which a hyphen needs quotes. */
function quoted(name: string): string {
  return `"${name}"`;
}

async function isStreaming(url: string): Promise<boolean> {
  return withClient(url, async (client) => {
    const { rowCount } = await client.query("SELECT 1 FROM pg_stat_wal_receiver WHERE status = 'streaming'");
    return rowCount === 1;
  }).catch(() => false);
}

/** A commit that waits for the replica comes after the replica has applied all earlier ones. @throws Error if it does not */
async function untilReplayed(primary: string): Promise<void> {
  await withClient(primary, async (client) => {
    await client.query(`SET statement_timeout = ${REPLAY_LIMIT_MS}`);
    await client.query("SET synchronous_commit = remote_apply");
    await client.query("SELECT pg_current_xact_id()");
  });
}
