import { openEtcd } from "../../lib/locks/etcd/etcd-client";
import { type Opening, once, type ServerKind } from "../server-kind";

/** etcd, `http://host:port[,http://host:port ...]`, reached through its JSON gateway. */
export const etcd = {
  id: "etcd",
  label: "etcd",
  familyLabel: "etcd",
  variable: "ETCD_URL",
  defaultPort: 2_379,
  greeting: "GET /version HTTP/1.0\r\n\r\n",
  quorum: "one",
  ports: { etcd: { port: 12_379, offset: 50 }, "etcd-peer": { port: 12_380, offset: 51 } },
  packages: { debian: ["etcd-server"], brew: "etcd" },
  addressAt: (endpoints) => endpoints.map(({ host, port }) => `http://${host}:${port}`).join(","),
  lockClients: (opening: Opening) => ({
    etcd: once(() => {
      const client = openEtcd(opening.address());
      opening.onClose(async () => client[Symbol.asyncDispose]());
      return client;
    }),
  }),
} as const satisfies ServerKind;
