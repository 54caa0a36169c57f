import { openMemcached } from "../../lib/locks/memcached/memcached-client";
import { type Opening, once, type ServerKind } from "../server-kind";

/** Memcached, `host:port`. */
export const memcached = {
  id: "memcached",
  label: "Memcached",
  familyLabel: "Memcached",
  variable: "MEMCACHED_URL",
  defaultPort: 11_211,
  greeting: "version\r\n",
  quorum: "one",
  ports: { memcached: { port: 11_311, offset: 40 } },
  packages: { debian: ["memcached"], brew: "memcached" },
  addressAt: (endpoints) => endpoints.map(({ host, port }) => `${host}:${port}`).join(","),
  lockClients: (opening: Opening) => ({
    memcached: once(() => {
      const client = openMemcached(opening.address());
      opening.onClose(async () => client[Symbol.asyncDispose]());
      return client;
    }),
  }),
} as const satisfies ServerKind;
