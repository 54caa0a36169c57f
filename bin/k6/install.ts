import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { findExecutable, runCommand } from "../../servers/commands";
import { withFileLock } from "../shared/file-lock.mjs";
import { cachedK6, type FoundK6, findK6, K6_VERSION } from "./find";
import { downloadRelease } from "./release";

/** Installs k6 into the user's cache: built by Go, else the official release. */

const MODULE = "go.k6.io/k6/v2";
const OLDEST_GO = [1, 25] as const;
const BUILD_TIMEOUT_MS = 15 * 60_000;
const INSTALL_TIMEOUT_MS = 20 * 60_000;

export type Say = (sentence: string) => void;

/**
 * The installed k6, else a new one in the cache.
 * @throws Error that lists each attempt, its error, and the fix
 */
export async function ensureK6(say: Say): Promise<FoundK6> {
  const found = await findK6();
  if (found) return found;
  const target = cachedK6();
  const lock = { file: `${target}.lock`, waitTimeoutMs: INSTALL_TIMEOUT_MS };
  return withFileLock(lock, async () => {
    const meanwhile = await findK6();
    if (meanwhile) return meanwhile;
    const failures: string[] = [];
    for (const [name, install] of [["Go", buildByGo] as const, ["the official release", fromRelease] as const]) {
      try {
        await install(target, say);
        const installed = await findK6();
        if (installed) return installed;
        failures.push(`${name}: the result does not run on this machine`);
      } catch (error) {
        failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    throw new Error(
      `k6 is not installed, and installing it failed.\n  ${failures.join("\n  ")}\nFix: install Go ${OLDEST_GO.join(".")} or k6 v${K6_VERSION}, or set K6_BINARY.`,
    );
  });
}

/**
 * Builds k6 as a requirement of an empty module. `go install` would also query whether the module is deprecated, which some
 * module proxies do not answer.
 */
async function buildByGo(target: string, say: Say): Promise<void> {
  const go = findExecutable("go", ["/usr/local/go/bin/go"]);
  if (!go) throw new Error("not installed");
  const { stdout } = await runCommand(go, ["env", "GOVERSION"], { timeoutMs: 10_000 });
  if (!isGoNewEnough(stdout)) throw new Error(`${stdout.trim()} is older than ${OLDEST_GO.join(".")}`);
  say(`Building k6 v${K6_VERSION} with ${stdout.trim()}. This takes about two minutes, once.`);
  const dir = mkdtempSync(path.join(os.tmpdir(), "flash-sale-lab-k6-"));
  try {
    writeFileSync(path.join(dir, "go.mod"), `module k6build\n\ngo 1.25.0\n\nrequire ${MODULE} v${K6_VERSION}\n`);
    const args = ["build", "-mod=mod", "-trimpath", "-ldflags=-s -w", "-o", "k6", MODULE];
    const result = await runCommand(go, args, { cwd: dir, timeoutMs: BUILD_TIMEOUT_MS, env: { GOFLAGS: "" } });
    if (result.code !== 0) throw new Error(result.stderr.trim().split("\n").slice(-3).join("; ") || "timed out");
    putInPlace(path.join(dir, "k6"), target);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Reads `go1.26.8`, as `go env GOVERSION` prints it. */
export function isGoNewEnough(text: string): boolean {
  const match = /go(\d+)\.(\d+)/.exec(text);
  if (!match) return false;
  const [major, minor] = [Number(match[1]), Number(match[2])];
  return major > OLDEST_GO[0] || (major === OLDEST_GO[0] && minor >= OLDEST_GO[1]);
}

async function fromRelease(target: string, say: Say): Promise<void> {
  const dir = mkdtempSync(path.join(os.tmpdir(), "flash-sale-lab-k6-"));
  try {
    putInPlace(await downloadRelease(dir, say), target);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Moves the program atomically, so that no process runs an incomplete file. */
function putInPlace(file: string, target: string): void {
  mkdirSync(path.dirname(target), { recursive: true });
  const next = `${target}.${process.pid}`;
  copyFileSync(file, next);
  chmodSync(next, 0o755);
  renameSync(next, target);
}
