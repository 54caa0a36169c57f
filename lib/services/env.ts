import { z } from "zod";
import { type ServerId, servers } from "../../servers/all-servers";

/** The environment, parsed once. A wrong value stops the process with the variable named. */

const port = z.coerce.number().int().min(1).max(65_535);
const millis = (fallback: number, max: number) => z.coerce.number().int().min(0).max(max).default(fallback);
const list = z.string().transform((text) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean),
);

const nodeList = list.transform((parts, context) =>
  parts.map((part) => {
    const [name, url] = part.split("=", 2);
    if (!name || !url || !URL.canParse(url)) {
      context.addIssue({ code: "custom", message: `"${part}" is not name=url, as in node-1=http://127.0.0.1:3001` });
      return z.NEVER;
    }
    return { name, url: url.replace(/\/$/, "") };
  }),
);

type ServerVariable = (typeof servers)[Exclude<ServerId, "postgres">]["variable"];

/** A variable per server kind (servers/): required or optional text. */
function serverVariables() {
  const { postgres, ...rest } = servers;
  const optional = Object.fromEntries(Object.values(rest).map(({ variable }) => [variable, z.string().optional()]));
  return {
    [postgres.variable]: z.string().min(1),
    ...(optional as Record<ServerVariable, z.ZodOptional<z.ZodString>>),
  };
}

const envSchema = z.object({
  ...serverVariables(),
  /** Servers whose data faults may throw away, as in memcached,redis. The lab adds those that it has started itself. */
  FAULTS_MAY_EMPTY: list.default([]),
  /** Strategy at start; `PUT /api/strategy` switches it later. */
  LOCK_STRATEGY: z.string().default("sql-guarded"),
  /** This process's name; `dashboard` for the one that serves no sales. */
  STORE_NODE: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, "lower-case letters, digits and hyphens")
    .default("node-1"),
  /** All store nodes, name=url, comma-separated. Empty: this process is the only one. */
  STORE_NODES: nodeList.default([]),
  HOST: z.string().default("127.0.0.1"),
  PORT: port.default(3000),
  /** Names this process answers to beside loopback names, addresses, HOST and its fellow nodes; comma-separated. */
  LAB_HOSTS: list.default([]),
  /** When set, routes that change the lab need `Authorization: Bearer <it>`. */
  LAB_ADMIN_TOKEN: z.string().min(8).optional(),
  /** Signs the ids of visitors; absent: the first process makes one and keeps it in the database. */
  BUYER_SECRET: z.string().min(16).optional(),
  /** How long an order waits for its payment, where its product does not say. */
  PAYMENT_WINDOW_MS: z.coerce.number().int().min(1_000).max(2_000_000_000).default(900_000),
  /** How often this process looks for orders that are due and for counters to settle; 0: never. */
  SHOP_MAINTENANCE_EVERY_MS: millis(5_000, 3_600_000),
  /** Purchases outside of runs. */
  HOLD_MS: millis(0, 10_000),
  LOCK_TTL_MS: millis(5_000, 120_000),
  WAIT_TIMEOUT_MS: millis(10_000, 60_000),
  /** Purchases a second that one buyer may send to one node outside of runs, and how many at once; payments as many; 0: no limit. */
  BUYER_RATE_PER_SECOND: z.coerce.number().min(0).max(100_000).default(5),
  BUYER_RATE_BURST: z.coerce.number().int().min(1).max(100_000).default(10),
  /** Buyers remembered for that. */
  BUYER_RATE_BUYERS: z.coerce.number().int().min(1).max(1_000_000).default(20_000),
  /** Purchases of one product or coupon that one node takes on at once, waiting ones included. */
  MAX_PURCHASES_PER_RESOURCE: z.coerce.number().int().min(1).max(100_000).default(20_000),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  /** A request that takes longer is logged. */
  SLOW_REQUEST_MS: millis(5_000, 600_000),
  PG_POOL_SIZE: z.coerce.number().int().min(1).max(200).default(16),
  /** How `sql-row-lock` meets a locked row. */
  SQL_ROW_LOCK: z.enum(["wait", "nowait", "skip-locked"]).default("wait"),
  /** How long `sql-advisory` holds: `session` is the variant that frees early when its connection is dropped. */
  SQL_ADVISORY: z.enum(["transaction", "session"]).default("transaction"),
  /** Commit the lab was started from, for run documents. */
  LAB_COMMIT: z.string().default("unknown"),
  /** k6 binary the lab may launch; empty: the built-in generator is used. */
  K6_BINARY: z.string().optional(),
});

export type Env = z.infer<typeof envSchema>;

/** Every variable a process of the lab reads. */
export const ENV_NAMES: readonly string[] = Object.keys(envSchema.shape);

/** @throws Error that names every variable that is wrong */
export function parseEnv(source: Record<string, string | undefined>): Env {
  const present = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined && value !== ""));
  const result = envSchema.safeParse(present);
  if (result.success) return result.data;
  const lines = result.error.issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
  throw new Error(`The environment is not usable:\n${lines.join("\n")}`);
}
