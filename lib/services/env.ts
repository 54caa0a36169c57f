import { isIP } from "node:net";
import { z } from "zod";
import { type ServerId, servers } from "../../servers/all-servers";

/** The environment, parsed once. An invalid value stops the process with an error that names the variable. */

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
      context.addIssue({
        code: "custom",
        message: `"${part}" must have the form name=url, as in node-1=http://127.0.0.1:3001`,
      });
      return z.NEVER;
    }
    return { name, url: url.replace(/\/$/, "") };
  }),
);

/** Addresses and networks such as 10.0.0.0/8. */
const networkList = list.transform((parts, context) =>
  parts.map((part) => {
    const [, address = "", bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(part) ?? [];
    const addressBits = isIP(address) === 4 ? 32 : 128;
    const prefix = Number(bits ?? addressBits);
    if (isIP(address) === 0 || prefix > addressBits) {
      context.addIssue({ code: "custom", message: `"${part}" must be an address or a network, as in 10.0.0.0/8` });
      return z.NEVER;
    }
    return { address, prefix };
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
  /** Servers whose data a fault may delete, as in memcached,redis. The lab adds the servers that it started. */
  FAULTS_MAY_EMPTY: list.default([]),
  /** The strategy at start; `PUT /api/strategy` switches it. */
  LOCK_STRATEGY: z.string().default("sql-guarded"),
  /** The name of this process. `dashboard` is the process that serves no sales. */
  STORE_NODE: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, "lower-case letters, digits and hyphens")
    .default("node-1"),
  /** All store nodes, name=url, comma-separated. Empty: this process is the only node. */
  STORE_NODES: nodeList.default([]),
  HOST: z.string().default("127.0.0.1"),
  PORT: port.default(3000),
  /** Host names that this process accepts besides loopback names, IP addresses, HOST and the other nodes; comma-separated. */
  LAB_HOSTS: list.default([]),
  /**
   * Addresses and networks of reverse proxies; comma-separated. The client of a request that such a proxy sends is the last
   * address in X-Forwarded-For that is not one of them. List only proxies that set this header.
   */
  TRUSTED_PROXIES: networkList.default([]),
  /** If set, routes that change the lab require `Authorization: Bearer <token>`. */
  LAB_ADMIN_TOKEN: z.string().min(8).optional(),
  /** Signs the ids of visitors. Absent: the first process generates a secret and stores it in the database. */
  BUYER_SECRET: z.string().min(16).optional(),
  /** How long an order waits for payment, if its product does not set a window. */
  PAYMENT_WINDOW_MS: z.coerce.number().int().min(1_000).max(2_000_000_000).default(900_000),
  /** How often this process expires unpaid orders and reconciles counters; 0: never. */
  SHOP_MAINTENANCE_EVERY_MS: millis(5_000, 3_600_000),
  /** The defaults of purchases outside runs. */
  HOLD_MS: millis(0, 10_000),
  LOCK_TTL_MS: millis(5_000, 120_000),
  WAIT_TIMEOUT_MS: millis(10_000, 60_000),
  /** Outside runs, each buyer may send this many purchases (and payments) per second to a node, and this many in a burst; 0: no limit. */
  BUYER_RATE_PER_SECOND: z.coerce.number().min(0).max(100_000).default(5),
  BUYER_RATE_BURST: z.coerce.number().int().min(1).max(100_000).default(10),
  /** How many buyers the rate limit remembers. */
  BUYER_RATE_BUYERS: z.coerce.number().int().min(1).max(1_000_000).default(20_000),
  /** Concurrent purchases of one product or coupon on one node, including waiting purchases. */
  MAX_PURCHASES_PER_RESOURCE: z.coerce.number().int().min(1).max(100_000).default(20_000),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  /** Logs requests that take longer. */
  SLOW_REQUEST_MS: millis(5_000, 600_000),
  PG_POOL_SIZE: z.coerce.number().int().min(1).max(200).default(16),
  /** What `sql-row-lock` does at a locked row. */
  SQL_ROW_LOCK: z.enum(["wait", "nowait", "skip-locked"]).default("wait"),
  /** The scope of the lock of `sql-advisory`. With `session`, a dropped connection releases the lock early. */
  SQL_ADVISORY: z.enum(["transaction", "session"]).default("transaction"),
  /** Replicas that must have a lock of `redis-lock` before it is granted (WAIT). Redis needs as many replicas. */
  REDIS_WAIT_REPLICAS: z.coerce.number().int().min(0).max(5).default(0),
  /** Where an order must be before PostgreSQL acknowledges it, in runs on a server with a replica (`pg-failover`). */
  PG_SYNCHRONOUS_COMMIT: z.enum(["local", "remote_apply"]).default("local"),
  /** The commit of the running code, for run documents. */
  LAB_COMMIT: z.string().default("unknown"),
  /** Where store nodes keep what they record of a run, so that it survives a killed process; absent: in memory only. */
  SPOOL_DIR: z.string().optional(),
  /** The k6 binary for load that the lab launches; empty: the lab uses the built-in generator. */
  K6_BINARY: z.string().optional(),
});

export type Env = z.infer<typeof envSchema>;

/** Every variable that a process of the lab reads. */
export const ENV_NAMES: readonly string[] = Object.keys(envSchema.shape);

const lockVariantsSchema = envSchema.pick({ SQL_ROW_LOCK: true, SQL_ADVISORY: true, REDIS_WAIT_REPLICAS: true });

/** @throws Error that lists every invalid variable */
export function parseEnv(source: Record<string, string | undefined>): Env {
  return parsePresent(envSchema, source);
}

/** The variants of the locks. For programs that need no other variable. @throws Error as `parseEnv` does */
export function parseLockVariants(source: Record<string, string | undefined>): {
  readonly rowLock: Env["SQL_ROW_LOCK"];
  readonly advisory: Env["SQL_ADVISORY"];
  readonly redisWaitReplicas: Env["REDIS_WAIT_REPLICAS"];
} {
  const variants = parsePresent(lockVariantsSchema, source);
  const { SQL_ROW_LOCK: rowLock, SQL_ADVISORY: advisory, REDIS_WAIT_REPLICAS: redisWaitReplicas } = variants;
  return { rowLock, advisory, redisWaitReplicas };
}

/** For programs that need no other variable. @throws Error as `parseEnv` does */
export function parseSynchronousCommit(source: Record<string, string | undefined>): Env["PG_SYNCHRONOUS_COMMIT"] {
  return parsePresent(envSchema.pick({ PG_SYNCHRONOUS_COMMIT: true }), source).PG_SYNCHRONOUS_COMMIT;
}

function parsePresent<Schema extends z.ZodType>(
  schema: Schema,
  source: Record<string, string | undefined>,
): z.infer<Schema> {
  const present = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined && value !== ""));
  const result = schema.safeParse(present);
  if (result.success) return result.data;
  const lines = result.error.issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
  throw new Error(`The environment is invalid. Correct these variables:\n${lines.join("\n")}`);
}
