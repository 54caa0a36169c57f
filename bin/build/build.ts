import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { runCommand } from "../../servers/commands";
import { withFileLock } from "../shared/file-lock.mjs";
import { DEFAULT_INSTANCE, type InstancePaths, ROOT } from "../supervisor/paths";
import { bundlePrograms, PROGRAM_SOURCES } from "./programs";

/** Next's pages and the bundled programs, built only if a file that they are made from has changed. */

const BUILD_TIMEOUT_MS = 10 * 60_000;
const STAMP = "lab-build-hash";
const DEFAULT_DIST_DIR = ".next";
/** Files and folders that a build is made from; generated/ follows from prisma/ and package-lock.json. */
export const INPUTS: readonly string[] = [
  "app",
  "lib",
  "servers",
  "public",
  "next.config.ts",
  "package.json",
  "package-lock.json",
  "postcss.config.mjs",
  "tsconfig.json",
  "prisma",
  "bin/build",
  "bin/load",
  "bin/runs/lab-client.ts",
  "bin/shared/terminal.ts",
  "load-tests/lib/printable.js",
  "load-tests/lib/retry.js",
  ...PROGRAM_SOURCES,
];

export interface Build {
  readonly distDir: string;
  readonly detail: string;
}

/**
 * The main instance builds into `.next`. Another instance uses that build if it is current, and otherwise builds into a
 * second folder, so that a test run never changes the files that a running lab serves.
 */
export async function buildIfStale(paths: InstancePaths, signal?: AbortSignal): Promise<Build> {
  const lock = { file: path.join(ROOT, ".lab", "build.lock"), waitTimeoutMs: BUILD_TIMEOUT_MS };
  return withFileLock(lock, async () => {
    const hash = hashOfInputs(ROOT);
    if (stampOf(DEFAULT_DIST_DIR) === hash) return { distDir: DEFAULT_DIST_DIR, detail: "up to date" };
    const distDir = paths.instance === DEFAULT_INSTANCE ? DEFAULT_DIST_DIR : `${DEFAULT_DIST_DIR}-${paths.instance}`;
    if (stampOf(distDir) === hash) return { distDir, detail: "up to date" };
    await keepingTsconfig(() => buildPages(paths, { distDir, signal }));
    await bundlePrograms(distDir); // After Next, which empties the folder first.
    writeFileSync(path.join(ROOT, distDir, STAMP), hash);
    return { distDir, detail: "built, because the sources changed" };
  });
}

/** Next adds the types of each build folder to tsconfig.json; those of a second build do not belong there. */
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

async function buildPages(paths: InstancePaths, options: { distDir: string; signal?: AbortSignal }): Promise<void> {
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
  // The first lines say what is wrong; the last lines are a stack trace.
  const lines = output.split("\n").filter((line) => line.trim() !== "" && !/^\s+at /.test(line));
  const excerpt = lines.slice(0, 20).join("\n");
  throw new Error(
    `next build ${result.code === null ? "timed out" : `failed with exit code ${result.code}`}:\n${excerpt}\nWhole output: ${logFile}`,
  );
}

/** One hash over the names and contents of all files that the build reads, without tests. */
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
