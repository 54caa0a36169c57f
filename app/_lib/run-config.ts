import { formatFault, parseFault } from "@/lib/faults/fault-text";
import type { FaultRequest } from "@/lib/faults/request";
import type { RunDocument } from "@/lib/runs/document";
import type { RunRequest } from "@/lib/runs/run-request";
import { formatCount, plural, settingText } from "./format";

/** The settings of a sale on the Lab page; the URL's query carries all of them. */
export interface SaleConfig {
  readonly strategy: string;
  readonly target: "product" | "coupon";
  readonly stock: number;
  /** All buyers at once, or a number of buyers per second. */
  readonly arrival: "together" | "rate";
  readonly buyers: number;
  readonly rate: number;
  readonly durationMs: number;
  readonly holdMs: number;
  readonly ttlMs: number;
  readonly waitTimeoutMs: number;
  readonly nodes: number;
  readonly engine: "k6" | "builtin";
  readonly seed: number;
  /** False: the database does not check the fencing token of a strategy that has one. */
  readonly fencing: boolean;
  /** Faults to inject while the sale runs. */
  readonly faults: readonly FaultRequest[];
}

export type NumericSetting =
  | "stock"
  | "buyers"
  | "rate"
  | "durationMs"
  | "holdMs"
  | "nodes"
  | "ttlMs"
  | "waitTimeoutMs"
  | "seed";

export interface SettingLimits {
  readonly label: string;
  readonly unit: string;
  readonly min: number;
  readonly max: number;
  readonly hint: string;
}

/** The bounds of `runRequestSchema`, copied to keep zod out of the browser bundle; a unit test compares both. */
export const SETTINGS: Record<NumericSetting, SettingLimits> = {
  stock: { label: "Stock", unit: "", min: 1, max: 1_000_000, hint: "Units on sale" },
  buyers: { label: "Buyers", unit: "", min: 1, max: 20_000, hint: "All start at the same time; one purchase each" },
  rate: { label: "Buyers per second", unit: "/s", min: 1, max: 50_000, hint: "One purchase each, evenly spaced" },
  durationMs: { label: "For", unit: "ms", min: 500, max: 600_000, hint: "How long buyers keep arriving" },
  holdMs: {
    label: "Work while holding",
    unit: "ms",
    min: 0,
    max: 10_000,
    hint: "Time that the business logic takes between read and write",
  },
  nodes: { label: "Store nodes", unit: "", min: 1, max: 16, hint: "Server processes that serve the sale" },
  ttlMs: {
    label: "Lease",
    unit: "ms",
    min: 100,
    max: 120_000,
    hint: "TTL of the lock's lease, for strategies that have one",
  },
  waitTimeoutMs: {
    label: "Wait timeout",
    unit: "ms",
    min: 0,
    max: 60_000,
    hint: "How long a purchase waits for the lock before it fails as contended",
  },
  seed: { label: "Seed", unit: "", min: 0, max: 2 ** 31 - 1, hint: "Seed of the load generator's random choices" },
};

export const NUMERIC_SETTINGS = Object.keys(SETTINGS) as NumericSetting[];

/** The settings that apply to this arrival; the others keep their value but are not validated. */
export function settingsInUse(arrival: SaleConfig["arrival"]): NumericSetting[] {
  const idle: readonly NumericSetting[] = arrival === "together" ? ["rate", "durationMs"] : ["buyers"];
  return NUMERIC_SETTINGS.filter((setting) => !idle.includes(setting));
}

/** `none` is the default strategy, so that one click shows an oversell. */
export const DEFAULT_CONFIG: SaleConfig = {
  strategy: "none",
  target: "product",
  stock: 100,
  arrival: "together",
  buyers: 500,
  rate: 200,
  durationMs: 10_000,
  holdMs: 5,
  ttlMs: 5_000,
  waitTimeoutMs: 10_000,
  nodes: 3,
  engine: "k6",
  seed: 1,
  fencing: true,
  faults: [],
};

export type Query = Record<string, string | string[] | undefined>;

/** Values for a query that names neither. */
export interface ConfigDefaults {
  readonly nodes: number;
  readonly engine: "k6" | "builtin";
}

function integerIn(query: Query, setting: NumericSetting, fallback: number): number {
  const raw = query[setting];
  if (typeof raw !== "string" || !/^\d{1,10}$/.test(raw)) return fallback;
  const value = Number(raw);
  const { min, max } = SETTINGS[setting];
  return value >= min && value <= max ? value : fallback;
}

/** Reads the query. A value that is missing, malformed or out of bounds falls back to its default. */
export function configFromQuery(query: Query, defaults: ConfigDefaults): SaleConfig {
  const strategy = typeof query.strategy === "string" ? query.strategy : "";
  return {
    strategy: /^[a-z0-9-]{1,64}$/.test(strategy) ? strategy : DEFAULT_CONFIG.strategy,
    target: query.target === "coupon" ? "coupon" : "product",
    stock: integerIn(query, "stock", DEFAULT_CONFIG.stock),
    arrival: query.arrival === "rate" ? "rate" : "together",
    buyers: integerIn(query, "buyers", DEFAULT_CONFIG.buyers),
    rate: integerIn(query, "rate", DEFAULT_CONFIG.rate),
    durationMs: integerIn(query, "durationMs", DEFAULT_CONFIG.durationMs),
    holdMs: integerIn(query, "holdMs", DEFAULT_CONFIG.holdMs),
    ttlMs: integerIn(query, "ttlMs", DEFAULT_CONFIG.ttlMs),
    waitTimeoutMs: integerIn(query, "waitTimeoutMs", DEFAULT_CONFIG.waitTimeoutMs),
    nodes: Math.min(integerIn(query, "nodes", defaults.nodes), Math.max(1, defaults.nodes)),
    engine: query.engine === "k6" || query.engine === "builtin" ? query.engine : defaults.engine,
    seed: integerIn(query, "seed", DEFAULT_CONFIG.seed),
    fencing: query.fencing !== "off",
    faults: faultsIn(query),
  };
}

function faultsIn({ fault }: Query): FaultRequest[] {
  if (typeof fault !== "string") return [];
  return fault.split(",").flatMap((text) => parseFault(text) ?? []);
}

/** Includes default values, so that a link keeps its meaning when a default changes. */
export function queryOf(config: SaleConfig): string {
  const arrival: Record<string, string> =
    config.arrival === "rate"
      ? { arrival: "rate", rate: String(config.rate), durationMs: String(config.durationMs) }
      : { arrival: "together", buyers: String(config.buyers) };
  return new URLSearchParams({
    strategy: config.strategy,
    target: config.target,
    stock: String(config.stock),
    ...arrival,
    holdMs: String(config.holdMs),
    ttlMs: String(config.ttlMs),
    waitTimeoutMs: String(config.waitTimeoutMs),
    nodes: String(config.nodes),
    engine: config.engine,
    seed: String(config.seed),
    fencing: config.fencing ? "on" : "off",
    fault: config.faults.map(formatFault).join(",") || "none",
  }).toString();
}

/** The settings of an existing run. */
export function configOfRun({
  strategy,
  target,
  config,
}: Pick<RunDocument, "strategy" | "target" | "config">): SaleConfig {
  const { vus, rate, durationMs } = config;
  return {
    strategy,
    target: target.kind,
    stock: config.stock,
    arrival: rate === null ? "together" : "rate",
    buyers: vus ?? DEFAULT_CONFIG.buyers,
    rate: rate ?? DEFAULT_CONFIG.rate,
    durationMs: durationMs ?? DEFAULT_CONFIG.durationMs,
    holdMs: config.holdMs,
    ttlMs: config.ttlMs,
    waitTimeoutMs: config.waitTimeoutMs,
    nodes: config.nodes,
    engine: config.engine.startsWith("builtin") ? "builtin" : "k6",
    seed: config.seed,
    fencing: config.fencing !== false,
    faults: config.faults ?? [],
  };
}

export type SaleRequest = Omit<RunRequest, "vus" | "rate" | "durationMs"> &
  Partial<Pick<RunRequest, "vus" | "rate" | "durationMs">>;

export function runRequestOf(config: SaleConfig): SaleRequest {
  const load =
    config.arrival === "rate" ? { rate: config.rate, durationMs: config.durationMs } : { vus: config.buyers };
  return {
    strategy: config.strategy,
    target: { kind: config.target },
    stock: config.stock,
    ...load,
    holdMs: config.holdMs,
    ttlMs: config.ttlMs,
    waitTimeoutMs: config.waitTimeoutMs,
    nodes: config.nodes,
    engine: config.engine,
    seed: config.seed,
    ...(config.fencing ? {} : { fencing: false }),
    ...(config.faults.length === 0 ? {} : { faults: [...config.faults] }),
    launch: true,
  };
}

/** What a valid value would be, if this one is not valid; else null. */
export function problemWith(setting: NumericSetting, text: string, maxNodes: number): string | null {
  const { min, max: schemaMax } = SETTINGS[setting];
  const max = setting === "nodes" ? Math.min(schemaMax, maxNodes) : schemaMax;
  const value = Number(text);
  if (text.trim() !== "" && Number.isInteger(value) && value >= min && value <= max) return null;
  const unit = SETTINGS[setting].unit === "ms" ? " ms" : "";
  return `a whole number from ${formatCount(min)} to ${formatCount(max)}${unit}`;
}

const FIELD_OF_API = new Map<string, string>([
  ["vus", "buyers"],
  ["target.kind", "target"],
]);

/** The setting that `details.field` of an API error names; null if the page has no such setting. */
export function settingOfField(field: string): keyof SaleConfig | null {
  const name = FIELD_OF_API.get(field) ?? field.replace(/^(faults)\..*$/, "$1");
  return Object.hasOwn(DEFAULT_CONFIG, name) ? (name as keyof SaleConfig) : null;
}

/** `500 buyers` or `200 buyers per second for 10 s`. */
export function arrivalText({ arrival, buyers, rate, durationMs }: SaleConfig): string {
  return arrival === "rate"
    ? `${plural(rate, "buyer")} per second for ${settingText(durationMs)}`
    : plural(buyers, "buyer");
}
