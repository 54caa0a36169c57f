import { existsSync } from "node:fs";
import { findExecutable, runCommand } from "../../servers/commands";

/** Installs missing programs from the system's packages, if this user may do so without a password. */

const INSTALL_TIMEOUT_MS = 8 * 60_000;

export type Installer =
  | { readonly kind: "apt"; readonly prefix: readonly string[] }
  | { readonly kind: "none"; readonly reason: string };

/** Whether this user may install packages: apt as root, or with a sudo that needs no password. */
export async function findInstaller(): Promise<Installer> {
  if (process.env.LAB_INSTALL === "never") return { kind: "none", reason: "LAB_INSTALL=never" };
  if (!findExecutable("apt-get")) return { kind: "none", reason: "apt-get is not installed" };
  if (process.getuid?.() === 0) return { kind: "apt", prefix: [] };
  const sudo = findExecutable("sudo");
  if (!sudo) return { kind: "none", reason: "not root, and sudo is not installed" };
  const { code } = await runCommand(sudo, ["-n", "true"], { timeoutMs: 5_000 });
  return code === 0
    ? { kind: "apt", prefix: [sudo, "-n"] }
    : { kind: "none", reason: "not root, and sudo needs a password" };
}

/** The command that a person would type. */
export function installAdvice(packages: { readonly debian: readonly string[]; readonly brew: string }): string {
  if (process.platform === "darwin") return `brew install ${packages.brew}`;
  const sudo = process.getuid?.() === 0 ? "" : "sudo ";
  return `${sudo}apt-get install --no-install-recommends ${packages.debian.join(" ")}`;
}

/**
 * Debian starts a server when its package is installed. The lab starts separate servers on separate ports, so the usual hook
 * (policy-rc.d) prevents that during the installation, unless the machine already has such a hook.
 */
const INSTALL_SCRIPT = `set -e
hook=/usr/sbin/policy-rc.d
if [ ! -e "$hook" ]; then
  printf '#!/bin/sh\\nexit 101\\n' > "$hook"; chmod 755 "$hook"
  trap 'rm -f "$hook"' EXIT
fi
# If another apt is running, the update can fail; the installation waits for the lock.
apt-get update || echo 'apt-get update failed; using the existing package lists'
install() { apt-get -o DPkg::Lock::Timeout=240 install -y --no-install-recommends "$@"; }
# Retry once: if the first try waited for another apt, its downloads may be gone.
install "$@" || install "$@"
`;

/** @throws Error with apt's last line if the installation fails */
export async function installDebianPackages(installer: Installer, packages: readonly string[]): Promise<void> {
  if (installer.kind !== "apt") throw new Error(installer.reason);
  const [command = "sh", ...args] = [...installer.prefix, "sh", "-c", INSTALL_SCRIPT, "lab-install", ...packages];
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const result = await runCommand(command, args, { timeoutMs: INSTALL_TIMEOUT_MS, env });
  if (result.code === 0) return;
  const lines = `${result.stdout}\n${result.stderr}`.trim().split("\n");
  const telling = lines.findLast((line) => line.startsWith("E:")) ?? lines.at(-1) ?? "";
  throw new Error(`apt-get ${result.code === null ? "timed out" : `exited with ${result.code}`}: ${telling}`);
}

/** True if the system uses dpkg, so that Debian package names apply. */
export function isDebian(): boolean {
  return existsSync("/etc/debian_version");
}
