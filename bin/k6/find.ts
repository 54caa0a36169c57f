import os from "node:os";
import path from "node:path";
import { findExecutable, isExecutable, runCommand } from "../../servers/commands";

/** Which k6 is here already. */

export const K6_VERSION = "2.2.0";
const OLDEST_MAJOR = 2;
const VERSION_TIMEOUT_MS = 10_000;

export interface FoundK6 {
  readonly binary: string;
  readonly version: string;
  readonly from: string;
}

/** Where `npm run k6` puts the k6 it builds or downloads: outside the checkout, so that every clone finds it. */
export function cachedK6(): string {
  const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache");
  return path.join(cache, "flash-sale-lab", `k6-v${K6_VERSION}`, "k6");
}

/**
 * The k6 of K6_BINARY, of the PATH or of the cache; null when none of them runs.
 * @throws Error when K6_BINARY names something that is no usable k6: a wish is not silently replaced
 */
export async function findK6(): Promise<FoundK6 | null> {
  const wanted = process.env.K6_BINARY;
  if (wanted) {
    const version = await usableVersion(wanted);
    if (version) return { binary: wanted, version, from: "K6_BINARY" };
    throw new Error(`K6_BINARY=${wanted} is no k6 of version ${OLDEST_MAJOR} or newer; correct it, or unset it`);
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

/** A program that cannot even be started, for example one for another processor. */
const NOTHING = { code: null, stdout: "", stderr: "" };

export function describeK6(k6: FoundK6): string {
  return `${k6.version} from ${k6.from}: ${k6.binary}`;
}
