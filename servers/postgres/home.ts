import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { findExecutable, runCommand } from "../commands";

/**
 * Chooses the folders of PostgreSQL's programs and data. PostgreSQL refuses to run as root, so root runs it as another user. If that
 * user cannot read the checkout (in /root, for example), programs and data are placed under /var/lib.
 */

export interface PostgresHome {
  readonly binDir: string;
  /** Exists and belongs to the user. */
  readonly dataDir: string;
  /** Absent: the user of this process. */
  readonly user?: SystemUser;
}

interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** Distinguishes the data of several checkouts. */
const CHECKOUT = path.resolve(fileURLToPath(new URL("../..", import.meta.url)));
const SHARED_DIR = "/var/lib/flash-sale-lab";
const OWN_USER = "flash-sale-lab";

export async function choosePostgresHome(options: {
  readonly postgresBinary: string;
  readonly wantedDir: string;
  /** Name of the data folder under /var/lib. Absent: that of the lab's instance. */
  readonly sharedName?: string;
}): Promise<PostgresHome> {
  const binDir = path.dirname(options.postgresBinary);
  if (process.getuid?.() !== 0) {
    mkdirSync(options.wantedDir, { recursive: true });
    return { binDir, dataDir: options.wantedDir };
  }
  const user = await postgresUser(options.wantedDir);
  return {
    binDir: await binDirFor(user, binDir),
    dataDir: await dataDirFor(user, options.wantedDir, options.sharedName),
    user,
  };
}

/** The owner of existing data, else `postgres`, else a system user that is created for it. */
async function postgresUser(dataDir: string): Promise<SystemUser> {
  const cluster = existsSync(dataDir) ? readdirSync(dataDir).find((name) => name.startsWith("cluster-")) : undefined;
  if (cluster !== undefined) {
    const { uid, gid } = statSync(path.join(dataDir, cluster));
    if (uid !== 0) return { uid, gid };
  }
  const known = (await lookUp("postgres")) ?? (await lookUp(OWN_USER));
  if (known) return known;
  const useradd = findExecutable("useradd");
  if (!useradd)
    throw new Error(
      "PostgreSQL refuses to run as root, and useradd is missing. Create a user named postgres, or run as another user.",
    );
  const args = ["--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", OWN_USER];
  const { code, stderr } = await runCommand(useradd, args, { timeoutMs: 10_000 });
  // A concurrent start may have created the user first.
  const created = await lookUp(OWN_USER);
  if (!created) throw new Error(`PostgreSQL refuses to run as root, and useradd exited with ${code}: ${stderr.trim()}`);
  return created;
}

async function lookUp(name: string): Promise<SystemUser | null> {
  const ask = (flag: string) => runCommand("id", [flag, name], { timeoutMs: 5_000 });
  const [uid, gid] = await Promise.all([ask("-u"), ask("-g")]);
  return uid.code === 0 && gid.code === 0 ? { uid: Number(uid.stdout), gid: Number(gid.stdout) } : null;
}

async function canRun(user: SystemUser, command: string, args: readonly string[]): Promise<boolean> {
  const result = await runCommand(command, args, { timeoutMs: 10_000, cwd: "/", user }).catch(() => null);
  return result?.code === 0;
}

async function binDirFor(user: SystemUser, binDir: string): Promise<string> {
  const probe = (dir: string) => canRun(user, path.join(dir, "initdb"), ["--version"]);
  if (await probe(binDir)) return binDir;
  // The parent folder holds bin, lib and share, which find each other by relative paths.
  const origin = path.dirname(binDir);
  const size = statSync(path.join(binDir, "postgres")).size;
  const copy = path.join(SHARED_DIR, `programs-${shortHash(`${origin}:${size}`)}`);
  const copiedBin = path.join(copy, "bin");
  if (!(await probe(copiedBin))) {
    const fresh = `${copy}.${process.pid}`;
    mkdirSync(SHARED_DIR, { recursive: true, mode: 0o755 });
    cpSync(origin, fresh, { recursive: true, verbatimSymlinks: true });
    makeReadable(fresh);
    rmSync(copy, { recursive: true, force: true });
    renameSync(fresh, copy);
  }
  if (!(await probe(copiedBin)))
    throw new Error(`user ${user.uid} can run neither ${binDir}/initdb nor the copy in ${copy}`);
  return copiedBin;
}

function makeReadable(file: string): void {
  const stat = lstatSync(file);
  if (stat.isSymbolicLink()) return;
  const isProgram = stat.isDirectory() || path.basename(path.dirname(file)) === "bin";
  chmodSync(file, stat.mode | (isProgram ? 0o555 : 0o444));
  if (stat.isDirectory()) for (const name of readdirSync(file)) makeReadable(path.join(file, name));
}

async function dataDirFor(
  user: SystemUser,
  wanted: string,
  sharedName = path.basename(path.dirname(path.dirname(wanted))),
): Promise<string> {
  mkdirSync(wanted, { recursive: true });
  chownSync(wanted, user.uid, user.gid);
  if (await canRun(user, "sh", ["-c", 'cd "$1" && test -w .', "sh", wanted])) return wanted;
  const elsewhere = path.join(SHARED_DIR, shortHash(CHECKOUT), sharedName);
  mkdirSync(elsewhere, { recursive: true, mode: 0o755 });
  chownSync(elsewhere, user.uid, user.gid);
  return elsewhere;
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
