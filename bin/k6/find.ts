import os from "node:os";
import path from "node:path";
import { findExecutable, isExecutable, runCommand } from "../../servers/commands";

/** Finds an installed k6. */

export const K6_VERSION = "2.2.0";
const OLDEST_MAJOR = 2;
const VERSION_TIMEOUT_MS = 10_000;

export interface FoundK6 {
  readonly binary: string;
  readonly version: string;
  readonly from: string;
}

/** Where `npm run k6` installs k6: outside the checkout, so that every clone finds it. */
export function cachedK6(): string {
  const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache");
  return path.join(cache, "flash-sale-lab", `k6-v${K6_VERSION}`, "k6");
}

/**
 * The k6 of K6_BINARY, of the PATH or of the cache; null if none of them runs.
 * @throws Error if K6_BINARY is not a usable k6, because another k6 must not replace it silently
 */
export async function findK6(): Promise<FoundK6 | null> {
  const wanted = process.env.K6_BINARY;
  if (wanted) {
    const version = await usableVersion(wanted);
    if (version) return { binary: wanted, version, from: "K6_BINARY" };
    throw new Error(
      `K6_BINARY=${wanted} is not a k6 of version ${OLDEST_MAJOR} or newer. Correct the variable, or unset it.`,
    );
  }
  const places = [
    { binary: findExecutable("k6"), from: "PATH" },
    { binary: cachedK6(), from: "cache" },
  ];
  for (const { binary, from } of places) {
    const version = binary === null ? null : await usableVersion(binary);
    if (binary !== null && version !== null) return { binary, version, from };
  }
  return null;
}

async function usableVersion(binary: string): Promise<string | null> {
  if (!isExecutable(binary)) return null;
  const { stdout } = await runCommand(binary, ["version"], { timeoutMs: VERSION_TIMEOUT_MS }).catch(() => NOTHING);
  const version = /v(\d+)\.\d+\.\d+\S*/.exec(stdout);
  return version && Number(version[1]) >= OLDEST_MAJOR ? version[0] : null;
}

/** For a program that cannot start, such as one for another processor. */
const NOTHING = { code: null, stdout: "", stderr: "" };

export function describeK6(k6: FoundK6): string {
  return `${k6.version} from ${k6.from}: ${k6.binary}`;
}
