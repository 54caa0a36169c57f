import type { ZkSession } from "../../lib/locks/zookeeper/zk-port";
import { openZkSession } from "../../lib/locks/zookeeper/zk-session";
import { type Opening, once, type ServerKind } from "../server-kind";

/** ZooKeeper, `host:port[,host:port ...]`. */
export const zookeeper = {
  id: "zookeeper",
  label: "ZooKeeper",
  familyLabel: "ZooKeeper",
  variable: "ZOOKEEPER_HOSTS",
  defaultPort: 2_181,
  greeting: "srvr",
  quorum: "one",
  ports: { zookeeper: { port: 12_181, offset: 30 } },
  packages: { debian: ["libzookeeper-java", "default-jre-headless"], brew: "zookeeper" },
  addressAt: (endpoints) => endpoints.map(({ host, port }) => `${host}:${port}`).join(","),
  lockClients: (opening: Opening) => ({
    zookeeper: once((): ZkSession => {
      const { sessionTimeoutMs } = opening;
      const session = openZkSession(opening.address(), sessionTimeoutMs === undefined ? {} : { sessionTimeoutMs });
      opening.onClose(async () => session[Symbol.asyncDispose]());
      return session;
    }),
  }),
} as const satisfies ServerKind;
