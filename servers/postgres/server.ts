import type { ServerKind } from "../server-kind";

/** PostgreSQL holds the stock, so every strategy needs it. Its lock clients share the pools of the store node. */
export const postgres = {
  id: "postgres",
  label: "PostgreSQL",
  variable: "DATABASE_URL",
  isRequired: true,
  defaultPort: 5_432,
  // SSLRequest: its length and its code. The answer is one letter.
  greeting: "\x00\x00\x00\x08\x04\xd2\x16\x2f",
  quorum: "one",
  ports: { postgres: { port: 15_432, offset: 10 } },
  packages: { debian: ["postgresql"], brew: "postgresql" },
  addressAt([endpoint], address) {
    const url = new URL(address);
    url.host = `${endpoint?.host}:${endpoint?.port}`;
    return url.href;
  },
} as const satisfies ServerKind;
