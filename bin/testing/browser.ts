import { findExecutable, versionOf } from "../../servers/commands";
import { findInstaller, installDebianPackages, isDebian } from "../provision/system-packages";

/** Finds Chromium for the browser tests: CHROMIUM_PATH, an installed one, or the system package. */

const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
const MAC_CHROME = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

export interface FoundBrowser {
  readonly binary: string;
  readonly version: string;
}

export async function findBrowser(): Promise<FoundBrowser | null> {
  const given = process.env.CHROMIUM_PATH;
  if (given) return { binary: given, version: await versionOf(given, ["--version"]) };
  for (const name of NAMES) {
    const binary = findExecutable(name, [MAC_CHROME]);
    if (binary) return { binary, version: await versionOf(binary, ["--version"]) };
  }
  return null;
}

/** @throws Error with the fix, if there is none and it cannot be installed */
export async function ensureBrowser(): Promise<FoundBrowser> {
  const found = await findBrowser();
  if (found) return found;
  const fix = "fix: install Chromium (Debian: apt-get install chromium), or set CHROMIUM_PATH";
  const installer = await findInstaller();
  if (installer.kind === "none" || !isDebian()) {
    const why = installer.kind === "none" ? installer.reason : "not Debian";
    throw new Error(`Chromium is not installed and cannot be installed here (${why}); ${fix}`);
  }
  await installDebianPackages(installer, ["chromium"]);
  const installed = await findBrowser();
  if (!installed) throw new Error(`apt-get installed chromium, but its program is not on the PATH; ${fix}`);
  return installed;
}
