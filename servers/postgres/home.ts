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
 * Where PostgreSQL's programs and data live. For most users: where they are. PostgreSQL refuses to run as root, so root
 * hands it to another user, who may not be able to enter the checkout (in /root, say): then both move to /var/lib.
 */

export interface PostgresHome {
  readonly binDir: string;
  /** Exists, and belongs to the user. */
  readonly dataDir: string;
  /** Absent: the user this process runs as. */
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

export async function settlePostgresHome(wish: {
  readonly postgresBinary: string;
  readonly wantedDir: string;
}): Promise<PostgresHome> {
  const binDir = path.dirname(wish.postgresBinary);
  if (process.getuid?.() !== 0) {
    mkdirSync(wish.wantedDir, { recursive: true });
    return { binDir, dataDir: wish.wantedDir };
  }
  const user = await postgresUser(wish.wantedDir);
  return {
    binDir: await binDirFor(user, binDir),
    dataDir: await dataDirFor(user, wish.wantedDir),
    user,
  };
}

/** Whoever owns the data already, else `postgres`, else a system user made for it. */
async function postgresUser(dataDir: string): Promise<SystemUser> {
  const cluster = existsSync(dataDir) ? readdirSync(dataDir).find((name) => name.startsWith("cluster-")) : undefined;
  if (cluster !== undefined) {
    const { uid, gid } = statSync(path.join(dataDir, cluster));
    if (uid !== 0) return { uid, gid };
  }
  const known = (await lookUp("postgres")) ?? (await lookUp(OWN_USER));
  if (known) return known;
  const useradd = findExecutable("useradd");
  if (!useradd) throw new Error("PostgreSQL refuses to run as root, and there is no useradd to make a user for it");
  const args = ["--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", OWN_USER];
  const { code, stderr } = await runCommand(useradd, args, { timeoutMs: 10_000 });
  // A start at the same time may have made it first.
  const made = await lookUp(OWN_USER);
  if (!made) throw new Error(`PostgreSQL refuses to run as root, and useradd ended with ${code}: ${stderr.trim()}`);
  return made;
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
  // The folder above holds bin, lib and share, which find each other by their relative places.
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
  if (!(await probe(copiedBin))) throw new Error(`user ${user.uid} cannot run ${binDir}/initdb, nor a copy in ${copy}`);
  return copiedBin;
}

function makeReadable(file: string): void {
  const stat = lstatSync(file);
  if (stat.isSymbolicLink()) return;
  const isProgram = stat.isDirectory() || path.basename(path.dirname(file)) === "bin";
  chmodSync(file, stat.mode | (isProgram ? 0o555 : 0o444));
  if (stat.isDirectory()) for (const name of readdirSync(file)) makeReadable(path.join(file, name));
}

async function dataDirFor(user: SystemUser, wanted: string): Promise<string> {
  mkdirSync(wanted, { recursive: true });
  chownSync(wanted, user.uid, user.gid);
  if (await canRun(user, "sh", ["-c", 'cd "$1" && test -w .', "sh", wanted])) return wanted;
  const elsewhere = path.join(SHARED_DIR, shortHash(CHECKOUT), path.basename(path.dirname(path.dirname(wanted))));
  mkdirSync(elsewhere, { recursive: true, mode: 0o755 });
  chownSync(elsewhere, user.uid, user.gid);
  return elsewhere;
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
