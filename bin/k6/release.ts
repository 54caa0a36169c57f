import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { runCommand } from "../../servers/commands";
import { K6_VERSION } from "./find";
import type { Say } from "./install";

const RELEASES = `https://github.com/grafana/k6/releases/download/v${K6_VERSION}`;
const DOWNLOAD_TIMEOUT_MS = 5 * 60_000;
const UNPACK_TIMEOUT_MS = 60_000;

/**
 * Downloads the release for this machine and checks it against the SHA-256 sums published with it. The check proves that
 * the file is complete and is the one that the release lists; the list itself relies on HTTPS and the project.
 * @returns the unpacked binary
 */
export async function downloadRelease(dir: string, say: Say): Promise<string> {
  const archive = archiveName(process.platform, process.arch);
  say(`Downloading ${archive} from the official release.`);
  const sums = (await download(`${RELEASES}/k6-v${K6_VERSION}-checksums.txt`)).toString("utf8");
  const expected = sumOf(sums, archive);
  const bytes = await download(`${RELEASES}/${archive}`);
  const actual = createHash("sha256").update(bytes).digest("hex");
  if (actual !== expected)
    throw new Error(`${archive} has SHA-256 ${actual}, but the release lists ${expected}. The file is not used.`);
  const file = path.join(dir, archive);
  writeFileSync(file, bytes);
  const [command, args] = archive.endsWith(".zip") ? ["unzip", ["-q", file]] : ["tar", ["-xzf", file]];
  const result = await runCommand(command, args, { cwd: dir, timeoutMs: UNPACK_TIMEOUT_MS });
  if (result.code !== 0) throw new Error(`${command} could not unpack ${archive}: ${result.stderr.trim()}`);
  return path.join(dir, archive.replace(/\.(tar\.gz|zip)$/, ""), "k6");
}

/** The archive's name in the release, such as `k6-v2.2.0-linux-amd64.tar.gz`. */
export function archiveName(platform: string, arch: string): string {
  const systems: Record<string, string | undefined> = { linux: "linux", darwin: "macos" };
  const processors: Record<string, string | undefined> = { x64: "amd64", arm64: "arm64" };
  const [system, processor] = [systems[platform], processors[arch]];
  if (!system || !processor) throw new Error(`There is no k6 release for ${platform} on ${arch}.`);
  return `k6-v${K6_VERSION}-${system}-${processor}.${system === "macos" ? "zip" : "tar.gz"}`;
}

/** Reads lines of the form `<64 hex digits>  <file>`. */
export function sumOf(sums: string, archive: string): string {
  for (const line of sums.split("\n")) {
    const match = /^([0-9a-f]{64})\s+\*?(.+)$/.exec(line.trim());
    if (match?.[1] && match[2] === archive) return match[1];
  }
  throw new Error(`The release's checksums do not list ${archive}.`);
}

async function download(url: string): Promise<Buffer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) }).catch((cause: Error) => {
    throw new Error(`Cannot reach ${new URL(url).host}: ${reasonOf(cause)}`, { cause });
  });
  if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status} for ${path.basename(url)}`);
  return Buffer.from(await response.arrayBuffer());
}

/** fetch's message is always "fetch failed"; the reason is its cause. */
function reasonOf(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : error.message;
}
