import { existsSync } from "node:fs";
import { findExecutable, runCommand } from "../../servers/commands";

/** Installing what is missing from the system's own packages, where that is allowed without asking. */

const INSTALL_TIMEOUT_MS = 8 * 60_000;

export type Installer =
  | { readonly kind: "apt"; readonly prefix: readonly string[] }
  | { readonly kind: "none"; readonly reason: string };

/** Whether this user may install packages: apt as root or by a sudo that asks for no password. */
export async function findInstaller(): Promise<Installer> {
  if (process.env.LAB_INSTALL === "never") return { kind: "none", reason: "installing is switched off" };
  if (!findExecutable("apt-get")) return { kind: "none", reason: "no apt-get here" };
  if (process.getuid?.() === 0) return { kind: "apt", prefix: [] };
  const sudo = findExecutable("sudo");
  if (!sudo) return { kind: "none", reason: "not root, and no sudo" };
  const { code } = await runCommand(sudo, ["-n", "true"], { timeoutMs: 5_000 });
  return code === 0
    ? { kind: "apt", prefix: [sudo, "-n"] }
    : { kind: "none", reason: "not root, and sudo wants a password" };
}

/** The line a person would type. */
export function installAdvice(packages: { readonly debian: readonly string[]; readonly brew: string }): string {
  if (process.platform === "darwin") return `brew install ${packages.brew}`;
  const sudo = process.getuid?.() === 0 ? "" : "sudo ";
  return `${sudo}apt-get install --no-install-recommends ${packages.debian.join(" ")}`;
}

/**
 * Debian starts a server when its package is installed. The lab starts its own on its own ports, so the usual hook
 * (policy-rc.d) forbids that for the time of the installation, unless the machine has such a hook already.
 */
const INSTALL_SCRIPT = `set -e
hook=/usr/sbin/policy-rc.d
if [ ! -e "$hook" ]; then
  printf '#!/bin/sh\\nexit 101\\n' > "$hook"; chmod 755 "$hook"
  trap 'rm -f "$hook"' EXIT
fi
# Another apt may be at work: the update may then fail, and the installation waits for its turn.
apt-get update || echo 'apt-get update failed; going on with the package lists there are'
install() { apt-get -o DPkg::Lock::Timeout=240 install -y --no-install-recommends "$@"; }
# A second try, because one that waited for another apt may find its downloads tidied away.
install "$@" || install "$@"
`;

/** @throws Error with apt's last line when it fails */
export async function installDebianPackages(installer: Installer, packages: readonly string[]): Promise<void> {
  if (installer.kind !== "apt") throw new Error(installer.reason);
  const [command = "sh", ...args] = [...installer.prefix, "sh", "-c", INSTALL_SCRIPT, "lab-install", ...packages];
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const result = await runCommand(command, args, { timeoutMs: INSTALL_TIMEOUT_MS, env });
  if (result.code === 0) return;
  const lines = `${result.stdout}\n${result.stderr}`.trim().split("\n");
  const telling = lines.findLast((line) => line.startsWith("E:")) ?? lines.at(-1) ?? "";
  throw new Error(`apt-get ended with ${result.code ?? "a time-out"}: ${telling}`);
}

/** True where dpkg is in charge, so that package names of Debian mean something. */
export function isDebian(): boolean {
  return existsSync("/etc/debian_version");
}
