import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { RunDocument } from "../document";
import { baseEnvironment, failureOf, runChild } from "./child";
import { watchGenerator } from "./cpu-watch";
import { engineLimitMs } from "./limits";
import type { EngineAvailability, LoadEngine, LoadOptions, LoadResult } from "./types";

/** Load by Grafana k6 with `load-tests/flash-sale.js`, the script that people also run by hand. */

const SCRIPT = join("load-tests", "flash-sale.js");
const DETECT_TIMEOUT_MS = 5_000;
/** Time for k6 to run its teardown and its summary after SIGINT. */
const GRACE_MS = 10_000;
/** k6's exit code if it sent the load but a threshold was crossed. Not a failure: the document has the reason. */
const THRESHOLDS_CROSSED = 99;

const FIX = "run `npm run k6` to find or install k6, or set K6_BINARY to its path";

export interface K6EngineOptions {
  /** Path of the binary; absent: `k6` on the PATH. */
  readonly binary?: string | undefined;
  /** The repository. */
  readonly rootDir: string;
}

/** Cached by binary and repository: every list of strategies needs the version, and reading it starts a process. */
const detections = new Map<string, Promise<EngineAvailability>>();

export function createK6Engine({ binary = "k6", rootDir }: K6EngineOptions): LoadEngine {
  const detect = async (): Promise<EngineAvailability> => {
    const key = `${binary}\n${rootDir}`;
    const detection = detections.get(key) ?? detectK6(binary, rootDir);
    detections.set(key, detection);
    const found = await detection;
    // A missing k6 is not cached, because it may be installed while the lab runs.
    if (!found.available) detections.delete(key);
    return found;
  };
  return {
    id: "k6",
    detect,
    async start(options) {
      const found = await detect();
      if (!found.available) return { ok: false, reason: found.reason, exitCode: null, elapsedMs: 0 };
      return startK6({ binary, rootDir, version: found.version ?? "k6" }, options);
    },
  };
}

async function detectK6(binary: string, rootDir: string): Promise<EngineAvailability> {
  try {
    await access(join(rootDir, SCRIPT));
    const { stdout } = await promisify(execFile)(binary, ["version"], { timeout: DETECT_TIMEOUT_MS });
    const version = parseK6Version(stdout);
    if (version !== null) return { available: true, version, reason: null };
    return { available: false, version: null, reason: `${binary} did not print a k6 version; ${FIX}` };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    return { available: false, version: null, reason: `${binary} cannot be run (${code}); ${FIX}` };
  }
}

/** `k6 v2.2.0 (go1.26.8, linux/amd64)` -> `k6 v2.2.0` */
export function parseK6Version(stdout: string): string | null {
  return /^k6 v\d+\.\d+\.\d+\S*/m.exec(stdout)?.[0] ?? null;
}

interface K6Setup {
  readonly binary: string;
  readonly rootDir: string;
  readonly version: string;
}

async function startK6(setup: K6Setup, options: LoadOptions): Promise<LoadResult> {
  const result = await runChild({
    command: setup.binary,
    args: ["run", "--quiet", "--no-color", SCRIPT],
    env: { ...baseEnvironment(), ...k6Environment(setup.version, options) },
    cwd: setup.rootDir,
    logFile: options.logFile,
    limitMs: engineLimitMs(options.document.config),
    graceMs: GRACE_MS,
    signal: options.signal,
    // A k6 script cannot read the CPU use of its process.
    onStart: (pid) => {
      options.onStart?.();
      return watchChild(options.runId, pid);
    },
  });
  const { exitCode, elapsedMs } = result;
  if (result.stoppedBecause === null && (exitCode === 0 || exitCode === THRESHOLDS_CROSSED)) {
    return { ok: true, reason: null, exitCode, elapsedMs };
  }
  const reason = await failureOf("k6", result, options.logFile);
  return { ok: false, reason, exitCode, elapsedMs };
}

function watchChild(runId: string, pid: number): () => void {
  const exited = new AbortController();
  watchGenerator(runId, pid, exited.signal);
  return () => exited.abort();
}

/** The admin token is passed in the environment, because every user of the machine can read a process's arguments. */
export function k6Environment(version: string, options: LoadOptions): Record<string, string> {
  return {
    K6_NO_USAGE_REPORT: "true",
    K6_WEB_DASHBOARD: "false",
    BASE_URL: options.dashboardUrl,
    RUN_ID: options.runId,
    ENGINE_NAME: version,
    RESULT_FILE: `${options.logFile.replace(/\.log$/, "")}.json`,
    ...(options.adminToken ? { ADMIN_TOKEN: options.adminToken } : {}),
    ...(options.runKey ? { RUN_KEY: options.runKey } : {}),
    ...loadSettings(options.document),
  };
}

function loadSettings({ config }: RunDocument): Record<string, string> {
  const load: Record<string, string> =
    config.rate === null
      ? { BUYERS: String(config.vus ?? 1) }
      : { RATE: String(config.rate), DURATION: `${config.durationMs ?? 10_000}ms` };
  return {
    ...load,
    HOLD_MS: String(config.holdMs),
    WAIT_TIMEOUT_MS: String(config.waitTimeoutMs),
    SEED: String(config.seed),
  };
}
