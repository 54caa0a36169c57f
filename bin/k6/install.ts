import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { findExecutable, runCommand } from "../../servers/commands";
import { withFileLock } from "../shared/file-lock.mjs";
import { cachedK6, type FoundK6, findK6, K6_VERSION } from "./find";
import { downloadRelease } from "./release";

/** Getting k6 where there is none: built by Go, else the official release. Into the user's cache, never system-wide. */

const MODULE = "go.k6.io/k6/v2";
const OLDEST_GO = [1, 25] as const;
const BUILD_TIMEOUT_MS = 15 * 60_000;
const INSTALL_TIMEOUT_MS = 20 * 60_000;

export type Say = (sentence: string) => void;

/**
 * The k6 that is here, else a new one in the cache.
 * @throws Error that names each way tried, why it failed, and what a person can do
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
        failures.push(`${name}: what it gave does not run here`);
      } catch (error) {
        failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    throw new Error(
      `k6 is not here and could not be installed.\n  ${failures.join("\n  ")}\nFix: install Go ${OLDEST_GO.join(".")} or k6 v${K6_VERSION}, or set K6_BINARY.`,
    );
  });
}

/**
 * `go install` asks the module proxy whether the module is deprecated, which not every proxy answers; building it as a
 * requirement of an empty module does not ask.
 */
async function buildByGo(target: string, say: Say): Promise<void> {
  const go = findExecutable("go", ["/usr/local/go/bin/go"]);
  if (!go) throw new Error("not installed");
  const { stdout } = await runCommand(go, ["env", "GOVERSION"], { timeoutMs: 10_000 });
  if (!isGoNewEnough(stdout)) throw new Error(`${stdout.trim()} is older than ${OLDEST_GO.join(".")}`);
  say(`building k6 v${K6_VERSION} by ${stdout.trim()}; about two minutes, once`);
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

/** In one step, so that nobody runs half a program. */
function putInPlace(file: string, target: string): void {
  mkdirSync(path.dirname(target), { recursive: true });
  const next = `${target}.${process.pid}`;
  copyFileSync(file, next);
  chmodSync(next, 0o755);
  renameSync(next, target);
}
