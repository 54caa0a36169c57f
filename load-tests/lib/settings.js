/**
 * The settings of a run, read from environment variables (`-e NAME=value`, or of the shell). Pure functions, so that tests run
 * outside k6. The error names every invalid value and says what is valid.
 *
 * @typedef {object} Settings
 * @property {string} baseUrl
 * @property {string | null} adminToken
 * @property {string | null} runId attach to this open run instead of opening one
 * @property {string | null} runKey key of the run in RUN_ID; opening a run returns its key
 * @property {string | null} strategy null: the active strategy of the lab
 * @property {number} stock
 * @property {number} buyers
 * @property {number | null} ratePerSecond null: all buyers start together
 * @property {number} durationMs
 * @property {number} holdMs
 * @property {number} ttlMs
 * @property {number} waitTimeoutMs
 * @property {boolean} isFenced false: fencing tokens are not checked
 * @property {number | null} nodes
 * @property {number} seed
 * @property {"product" | "coupon"} targetKind
 * @property {number | null} targetId
 * @property {number} maxVus
 * @property {string[]} storeUrls empty: read from the lab
 * @property {string | null} resultFile
 * @property {string} engineName
 */

/** @typedef {Record<string, string | undefined>} Environment */
/** @typedef {{ name: string, min: number, max: number }} Bounds */

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000 };

/**
 * @param {string} text `10s`, `1m`, `1500ms`, or bare milliseconds
 * @returns {number | null} milliseconds; null if the text is not a duration
 */
export function parseDurationMs(text) {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text.trim());
  if (!match) return null;
  const unit = /** @type {keyof typeof UNIT_MS} */ (match[2] ?? "ms");
  return Math.round(Number(match[1]) * UNIT_MS[unit]);
}

/** Collects all problems instead of stopping at the first one. */
class Reader {
  /** @param {Environment} env */
  constructor(env) {
    this.env = env;
    /** @type {string[]} */
    this.problems = [];
  }

  /** @param {string} name */
  text(name) {
    const value = this.env[name];
    return value === undefined || value.trim() === "" ? null : value.trim();
  }

  /** @param {Bounds} bounds */
  integer(bounds) {
    const text = this.text(bounds.name);
    if (text === null) return null;
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= bounds.min && value <= bounds.max) return value;
    this.problems.push(`${bounds.name}="${text}": must be a whole number from ${bounds.min} to ${bounds.max}`);
    return null;
  }

  durationMs() {
    const text = this.text("DURATION");
    if (text === null) return 10_000;
    const value = parseDurationMs(text);
    if (value !== null && value >= 500 && value <= 600_000) return value;
    this.problems.push(`DURATION="${text}": must be 500ms to 10m, for example 10s, 1m or 1500ms`);
    return 10_000;
  }

  /** @param {string} name */
  urls(name) {
    const list = (this.text(name) ?? "").split(",").map((part) => part.trim().replace(/\/+$/, ""));
    const urls = list.filter((url) => url !== "");
    for (const url of urls) {
      if (!/^https?:\/\/[^/\s]+/.test(url))
        this.problems.push(`${name}="${url}": must be a URL, for example http://127.0.0.1:3001`);
    }
    return urls;
  }

  /** @returns {"product" | "coupon"} */
  targetKind() {
    const text = this.text("TARGET") ?? "product";
    if (text === "product" || text === "coupon") return text;
    this.problems.push(`TARGET="${text}": must be product or coupon`);
    return "product";
  }

  isFenced() {
    const text = this.text("FENCING") ?? "on";
    if (text !== "on" && text !== "off") this.problems.push(`FENCING="${text}": must be on or off`);
    return text !== "off";
  }

  strategy() {
    const text = this.text("LOCK_STRATEGY");
    if (text !== null && !/^[a-z0-9-]{1,64}$/.test(text)) {
      this.problems.push(
        `LOCK_STRATEGY="${text}": must be a strategy id, for example sql-guarded. GET /api/strategies lists them.`,
      );
    }
    return text;
  }
}

/**
 * The number of VUs that an arrival-rate run may need: each purchase in flight uses one until it is answered. k6 creates all of them
 * before the start, because it drops an iteration whenever it has to create a VU.
 * @param {{ ratePerSecond: number, durationMs: number, waitTimeoutMs: number }} load
 */
export function defaultMaxVus(load) {
  const inFlightMs = Math.min(load.durationMs, load.waitTimeoutMs + 2_000);
  return Math.min(1_000, Math.max(20, Math.ceil((load.ratePerSecond * inFlightMs) / 1_000)));
}

/**
 * How late k6 may send its purchases (p99). Beyond this limit k6 fails, and the lab says that the generator fell behind, by the same rule
 * (`latenessLimitMs` in lib/runs/agreement.ts).
 * @param {{ ratePerSecond: number | null, buyers: number }} load
 */
export function latenessLimitMs(load) {
  return Math.max(2_000, load.ratePerSecond === null ? 2 * load.buyers : 0);
}

/**
 * @param {Environment} env
 * @returns {Settings}
 * @throws {Error} that names every invalid variable
 */
export function readSettings(env) {
  const reader = new Reader(env);
  const ratePerSecond = reader.integer({ name: "RATE", min: 1, max: 50_000 });
  const durationMs = reader.durationMs();
  const waitTimeoutMs = reader.integer({ name: "WAIT_TIMEOUT_MS", min: 0, max: 60_000 }) ?? 10_000;
  const maxVus = reader.integer({ name: "MAX_VUS", min: 1, max: 20_000 });
  const settings = {
    baseUrl: reader.urls("BASE_URL")[0] ?? "http://127.0.0.1:3000",
    adminToken: reader.text("ADMIN_TOKEN"),
    runId: reader.text("RUN_ID"),
    runKey: reader.text("RUN_KEY"),
    strategy: reader.strategy(),
    stock: reader.integer({ name: "STOCK", min: 1, max: 1_000_000 }) ?? 100,
    buyers: reader.integer({ name: "BUYERS", min: 1, max: 20_000 }) ?? 500,
    ratePerSecond,
    durationMs,
    holdMs: reader.integer({ name: "HOLD_MS", min: 0, max: 10_000 }) ?? 5,
    ttlMs: reader.integer({ name: "TTL_MS", min: 100, max: 120_000 }) ?? 5_000,
    waitTimeoutMs,
    isFenced: reader.isFenced(),
    nodes: reader.integer({ name: "NODES", min: 1, max: 16 }),
    seed: reader.integer({ name: "SEED", min: 0, max: 2 ** 31 - 1 }) ?? 1,
    targetKind: reader.targetKind(),
    targetId: reader.integer({ name: "TARGET_ID", min: 1, max: 2 ** 31 - 1 }),
    maxVus: maxVus ?? defaultMaxVus({ ratePerSecond: ratePerSecond ?? 1, durationMs, waitTimeoutMs }),
    storeUrls: reader.urls("STORE_URLS"),
    resultFile: reader.text("RESULT_FILE"),
    engineName: reader.text("ENGINE_NAME") ?? "k6",
  };
  if (reader.problems.length > 0) {
    throw new Error(`These settings are invalid:\n  ${reader.problems.join("\n  ")}`);
  }
  return settings;
}

/**
 * The body of `POST /api/runs`.
 * @param {Settings} settings
 * @param {string} strategy
 */
export function runRequestOf(settings, strategy) {
  /** @type {Record<string, unknown>} */
  const request = {
    strategy,
    target:
      settings.targetId === null ? { kind: settings.targetKind } : { kind: settings.targetKind, id: settings.targetId },
    stock: settings.stock,
    holdMs: settings.holdMs,
    ttlMs: settings.ttlMs,
    waitTimeoutMs: settings.waitTimeoutMs,
    engine: "k6",
    seed: settings.seed,
    launch: false,
  };
  if (!settings.isFenced) request.fencing = false;
  if (settings.nodes !== null) request.nodes = settings.nodes;
  if (settings.ratePerSecond === null) request.vus = settings.buyers;
  else Object.assign(request, { rate: settings.ratePerSecond, durationMs: settings.durationMs });
  return request;
}

/**
 * Checks that an open run has the load of these settings.
 * @param {Settings} settings
 * @param {{ vus: number | null, rate: number | null }} config of the run document
 * @returns {string | null} the difference; null if there is none
 */
export function mismatchWithRun(settings, config) {
  if (config.rate !== settings.ratePerSecond) {
    return `RATE is ${settings.ratePerSecond ?? "not set"}, but the run was opened with rate ${config.rate ?? "none"}`;
  }
  if (config.rate === null && config.vus !== null && config.vus !== settings.buyers) {
    return `BUYERS is ${settings.buyers}, but the run was opened for ${config.vus} buyers`;
  }
  return null;
}
