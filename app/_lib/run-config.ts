import type { RunRequest } from "@/lib/runs/document";

/** The settings of a sale as the Lab page holds them; the whole of it lives in the URL's query. */
export interface SaleConfig {
  readonly strategy: string;
  readonly target: "product" | "coupon";
  readonly stock: number;
  readonly buyers: number;
  readonly holdMs: number;
  readonly ttlMs: number;
  readonly waitTimeoutMs: number;
  readonly nodes: number;
  readonly engine: "k6" | "builtin";
}

export type NumericSetting = "stock" | "buyers" | "holdMs" | "ttlMs" | "waitTimeoutMs" | "nodes";

export interface SettingLimits {
  readonly label: string;
  readonly unit: string;
  readonly min: number;
  readonly max: number;
  readonly hint: string;
}

/** The same bounds as `runRequestSchema` (a unit test holds them together); zod itself stays out of the browser. */
export const SETTINGS: Record<NumericSetting, SettingLimits> = {
  stock: { label: "Stock", unit: "", min: 1, max: 1_000_000, hint: "Units on sale" },
  buyers: { label: "Buyers", unit: "", min: 1, max: 20_000, hint: "Start together, one purchase each" },
  holdMs: {
    label: "Work while holding",
    unit: "ms",
    min: 0,
    max: 10_000,
    hint: "Business logic between read and write",
  },
  ttlMs: { label: "Lease", unit: "ms", min: 100, max: 120_000, hint: "Length of the lock's lease, where it has one" },
  waitTimeoutMs: {
    label: "Wait limit",
    unit: "ms",
    min: 0,
    max: 60_000,
    hint: "How long a purchase waits for its lock",
  },
  nodes: { label: "Store nodes", unit: "", min: 1, max: 16, hint: "Processes that serve the sale" },
};

export const NUMERIC_SETTINGS = Object.keys(SETTINGS) as NumericSetting[];

/** `none` first: a visitor sees an oversell in one click. */
export const DEFAULT_CONFIG: SaleConfig = {
  strategy: "none",
  target: "product",
  stock: 100,
  buyers: 500,
  holdMs: 5,
  ttlMs: 5_000,
  waitTimeoutMs: 10_000,
  nodes: 3,
  engine: "k6",
};

export type Query = Record<string, string | string[] | undefined>;

/** What the lab has, where the query does not say. */
export interface ConfigDefaults {
  readonly nodes: number;
  readonly engine: "k6" | "builtin";
}

function integerIn(query: Query, setting: NumericSetting, fallback: number): number {
  const raw = query[setting];
  if (typeof raw !== "string" || !/^\d{1,9}$/.test(raw)) return fallback;
  const value = Number(raw);
  const { min, max } = SETTINGS[setting];
  return value >= min && value <= max ? value : fallback;
}

/** Reads the query; whatever is missing or out of bounds falls back to its default. */
export function configFromQuery(query: Query, defaults: ConfigDefaults): SaleConfig {
  const strategy = typeof query.strategy === "string" ? query.strategy : "";
  return {
    strategy: /^[a-z0-9-]{1,64}$/.test(strategy) ? strategy : DEFAULT_CONFIG.strategy,
    target: query.target === "coupon" ? "coupon" : "product",
    stock: integerIn(query, "stock", DEFAULT_CONFIG.stock),
    buyers: integerIn(query, "buyers", DEFAULT_CONFIG.buyers),
    holdMs: integerIn(query, "holdMs", DEFAULT_CONFIG.holdMs),
    ttlMs: integerIn(query, "ttlMs", DEFAULT_CONFIG.ttlMs),
    waitTimeoutMs: integerIn(query, "waitTimeoutMs", DEFAULT_CONFIG.waitTimeoutMs),
    nodes: Math.min(integerIn(query, "nodes", defaults.nodes), Math.max(1, defaults.nodes)),
    engine: query.engine === "k6" || query.engine === "builtin" ? query.engine : defaults.engine,
  };
}

/** Everything, defaults too: a link keeps its meaning when a default changes. */
export function queryOf(config: SaleConfig): string {
  return new URLSearchParams({
    strategy: config.strategy,
    target: config.target,
    stock: String(config.stock),
    buyers: String(config.buyers),
    holdMs: String(config.holdMs),
    ttlMs: String(config.ttlMs),
    waitTimeoutMs: String(config.waitTimeoutMs),
    nodes: String(config.nodes),
    engine: config.engine,
  }).toString();
}

export function runRequestOf(config: SaleConfig): Omit<RunRequest, "rate" | "durationMs" | "seed"> {
  return {
    strategy: config.strategy,
    target: { kind: config.target },
    stock: config.stock,
    vus: config.buyers,
    holdMs: config.holdMs,
    ttlMs: config.ttlMs,
    waitTimeoutMs: config.waitTimeoutMs,
    nodes: config.nodes,
    engine: config.engine,
    launch: true,
  };
}

/** The sentence for a value that cannot be sent, or null. */
export function problemWith(setting: NumericSetting, text: string, maxNodes: number): string | null {
  const { min, max: schemaMax } = SETTINGS[setting];
  const max = setting === "nodes" ? Math.min(schemaMax, maxNodes) : schemaMax;
  const value = Number(text);
  if (text.trim() !== "" && Number.isInteger(value) && value >= min && value <= max) return null;
  const unit = SETTINGS[setting].unit === "ms" ? " ms" : "";
  return `a whole number from ${min.toLocaleString("en")} to ${max.toLocaleString("en")}${unit}`;
}

const FIELD_OF_API = new Map<string, string>([
  ["vus", "buyers"],
  ["target.kind", "target"],
]);

/** The settings row that an API error's `details.field` speaks of, or null when the page has no such row. */
export function settingOfField(field: string): keyof SaleConfig | null {
  const name = FIELD_OF_API.get(field) ?? field;
  return Object.hasOwn(DEFAULT_CONFIG, name) ? (name as keyof SaleConfig) : null;
}
