import type { ServerKind } from "../server-kind";

/** PostgreSQL holds the stock, so every strategy needs it. Its lock clients share the pools of the store node. */
export const postgres = {
  id: "postgres",
  label: "PostgreSQL",
  variable: "DATABASE_URL",
  isRequired: true,
  defaultPort: 5_432,
  quorum: "one",
  ports: { postgres: { port: 15_432, offset: 10 } },
  packages: { debian: ["postgresql"], brew: "postgresql" },
  addressAt([endpoint], address) {
    const url = new URL(address);
    url.host = `${endpoint?.host}:${endpoint?.port}`;
    return url.href;
  },
} as const satisfies ServerKind;
