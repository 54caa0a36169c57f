import { spawnSync } from "node:child_process";

/**
 * A file system of limited size in a mount namespace: only the program that is started with it and its children see it, and it
 * disappears with the last of them. Root may mount in a mount namespace; other users need a user namespace too.
 */
const ENTER = ["--mount", ...(process.getuid?.() === 0 ? [] : ["--user", "--map-current-user", "--keep-caps"])];

/** Why this machine allows no small disk; null if it does. */
export function whyNoSmallDisk(): string | null {
  const { status, error, stderr } = spawnSync("unshare", [...ENTER, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], {
    encoding: "utf8",
  });
  return status === 0 ? null : `cannot mount a file system: ${error?.message ?? stderr.trim()}`;
}

/** The start of a command line: the program after it sees a file system of this size at a folder. */
export function onSmallDisk(folder: string, megabytes: number): readonly [string, ...string[]] {
  const mount = 'mount -t tmpfs -o "size=$1m,mode=755" tmpfs "$2" && shift 2 && exec "$@"';
  return ["unshare", ...ENTER, "sh", "-c", mount, "sh", String(megabytes), folder];
}
