import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Provisioner } from "../provisioning";
import { findRedis, probeRedis, startRedis } from "../redis/provision";

const SERVERS = ["redlock-1", "redlock-2", "redlock-3", "redlock-4", "redlock-5"] as const;
/** The last one of the first majority: the fault `clock-jump` moves its clock. */
const MOVABLE_CLOCK = "redlock-3";

import { movableClock } from "./movable-clock";

/** Five independent Redis servers, for Redlock. */
export const provisioner: Provisioner = {
  find: findRedis,
  async probe(given) {
    const urls = given.split(",").map((url) => url.trim());
    const versions = await Promise.all(urls.map(probeRedis));
    return `${urls.length} servers, ${[...new Set(versions)].join(" and ")}`;
  },
  async start(context, found) {
    const urls = await Promise.all(
      SERVERS.map(async (name) => {
        const dataDir = path.join(context.dataDir, name);
        mkdirSync(dataDir, { recursive: true });
        const env = name === MOVABLE_CLOCK ? await movableClock(dataDir) : {};
        return startRedis({ ...context, dataDir }, { name, binary: found.binary, env });
      }),
    );
    return urls.join(",");
  },
};
