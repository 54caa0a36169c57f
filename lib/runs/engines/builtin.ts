import { join } from "node:path";
import { baseEnvironment, failureOf, runChild } from "./child";
import { engineLimitMs } from "./limits";
import type { LoadEngine, LoadOptions, LoadResult } from "./types";

/**
 * The lab's own load generator, a Node.js process for machines without k6. It sends the same purchases in the same two ways. The run
 * document names the generator, because its figures differ from k6's.
 */

/** In production the build holds a bundle of the generator; elsewhere the TypeScript file runs through its loader. */
const PROGRAM =
  process.env.NODE_ENV === "production"
    ? ["--enable-source-maps", join(process.env.NEXT_DIST_DIR ?? ".next", "programs", "load-generator.mjs")]
    : ["--import", "tsx", join("bin", "load", "builtin.ts")];
const GRACE_MS = 3_000;

export function createBuiltinEngine({ rootDir }: { readonly rootDir: string }): LoadEngine {
  return {
    id: "builtin",
    detect: async () => ({ available: true, version: builtinVersion(), reason: null }),
    start: (options) => startBuiltin(rootDir, options),
  };
}

/** Name of the built-in generator in run documents. */
export function builtinVersion(): string {
  return `builtin (Node.js ${process.version})`;
}

async function startBuiltin(rootDir: string, options: LoadOptions): Promise<LoadResult> {
  const result = await runChild({
    command: process.execPath,
    args: PROGRAM,
    env: {
      ...baseEnvironment(),
      BASE_URL: options.dashboardUrl,
      RUN_ID: options.runId,
      ...(options.adminToken ? { ADMIN_TOKEN: options.adminToken } : {}),
      ...(options.runKey ? { RUN_KEY: options.runKey } : {}),
    },
    cwd: rootDir,
    logFile: options.logFile,
    limitMs: engineLimitMs(options.document.config),
    graceMs: GRACE_MS,
    signal: options.signal,
    onStart: () => {
      options.onStart?.();
      return undefined;
    },
  });
  const { exitCode, elapsedMs } = result;
  if (result.stoppedBecause === null && exitCode === 0) return { ok: true, reason: null, exitCode, elapsedMs };
  const reason = await failureOf("The built-in generator", result, options.logFile);
  return { ok: false, reason, exitCode, elapsedMs };
}
