import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { runCommand } from "../provision/commands";
import { withFileLock } from "../shared/file-lock.mjs";
import { DEFAULT_INSTANCE, type InstancePaths, ROOT } from "./paths";

/** `next build`, only when something it reads has changed since the last one. */

const BUILD_TIMEOUT_MS = 10 * 60_000;
const STAMP = "lab-build-hash";
const DEFAULT_DIST_DIR = ".next";
const INPUTS = [
  "app",
  "lib",
  "public",
  "next.config.ts",
  "package-lock.json",
  "postcss.config.mjs",
  "tsconfig.json",
  "prisma/schema.prisma",
];

export interface Build {
  readonly distDir: string;
  readonly detail: string;
}

/**
 * The main instance builds into `.next`. Another one uses that build when it is current, and else makes one of its own,
 * so that a test run never changes the files a running lab is served from.
 */
export async function buildIfStale(paths: InstancePaths, signal?: AbortSignal): Promise<Build> {
  const lock = { file: path.join(ROOT, ".lab", "build.lock"), waitTimeoutMs: BUILD_TIMEOUT_MS };
  return withFileLock(lock, async () => {
    const hash = hashOfInputs(ROOT);
    if (stampOf(DEFAULT_DIST_DIR) === hash) return { distDir: DEFAULT_DIST_DIR, detail: "up to date" };
    const distDir = paths.instance === DEFAULT_INSTANCE ? DEFAULT_DIST_DIR : `${DEFAULT_DIST_DIR}-${paths.instance}`;
    if (stampOf(distDir) === hash) return { distDir, detail: "up to date" };
    await keepingTsconfig(() => build(paths, { distDir, signal }));
    writeFileSync(path.join(ROOT, distDir, STAMP), hash);
    return { distDir, detail: "built, because the sources have changed" };
  });
}

/** Next adds the types of every folder it builds into; those of a second build are nobody's business but its own. */
async function keepingTsconfig(work: () => Promise<void>): Promise<void> {
  const file = path.join(ROOT, "tsconfig.json");
  const before = readFileSync(file, "utf8");
  try {
    await work();
  } finally {
    if (readFileSync(file, "utf8") !== before) writeFileSync(file, before);
  }
}

function stampOf(distDir: string): string | null {
  const file = path.join(ROOT, distDir, STAMP);
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}

async function build(paths: InstancePaths, options: { distDir: string; signal?: AbortSignal }): Promise<void> {
  const result = await runCommand(
    process.execPath,
    [path.join("node_modules", "next", "dist", "bin", "next"), "build"],
    {
      cwd: ROOT,
      timeoutMs: BUILD_TIMEOUT_MS,
      env: { NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1", NEXT_DIST_DIR: options.distDir },
      signal: options.signal,
    },
  );
  const output = `${result.stdout}\n${result.stderr}`.trim();
  const logFile = path.join(paths.logsDir, "build.log");
  writeFileSync(logFile, output);
  if (result.code === 0) return;
  // Its first lines say what is wrong; the last ones are a stack.
  const telling = output.split("\n").filter((line) => line.trim() !== "" && !/^\s+at /.test(line));
  const excerpt = telling.slice(0, 20).join("\n");
  throw new Error(`next build ended with ${result.code ?? "a time-out"}:\n${excerpt}\nwhole output: ${logFile}`);
}

/** One hash over names and contents of all files the build reads; tests are no part of it. */
export function hashOfInputs(root: string): string {
  const hash = createHash("sha256");
  for (const input of INPUTS) addTo(hash, { root, file: input });
  return hash.digest("hex");
}

function addTo(hash: ReturnType<typeof createHash>, entry: { root: string; file: string }): void {
  const full = path.join(entry.root, entry.file);
  if (!existsSync(full)) return;
  if (statSync(full).isDirectory()) {
    for (const name of readdirSync(full).sort()) addTo(hash, { root: entry.root, file: path.join(entry.file, name) });
    return;
  }
  if (/\.test\.tsx?$/.test(full)) return;
  hash.update(`${entry.file}\0`);
  hash.update(readFileSync(full));
}
