#!/usr/bin/env node
// The entry point of every command: plain JavaScript without dependencies, so that it runs in a fresh clone on any Node.js.
// It installs packages and generates code if needed, then runs bin/lab.ts in the same process, so that signals and exit
// codes need no forwarding.
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
// The folder in which the user typed the command; npm sets it too. Paths in arguments are relative to it.
process.env.INIT_CWD ??= process.cwd();
process.chdir(root);

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 9)) {
  console.error(
    `Flash Sale Lab needs Node.js 20.9 or newer, but this is ${process.version}. Install a newer one from https://nodejs.org`,
  );
  process.exit(1);
}

try {
  // Imported after the check: an older Node.js would stop at a syntax error instead of the message above.
  const { ensurePackages } = await import("./shared/ensure-packages.mjs");
  const step = await ensurePackages(root);
  // A parent process may have set it already, and it was the parent that installed the packages.
  process.env.LAB_PACKAGES_STEP ??= JSON.stringify(step);
} catch (error) {
  const { adviseOnWrite } = await import("./shared/write-advice.mjs");
  console.error(adviseOnWrite(error) ?? (error instanceof Error ? error.message : error));
  process.exit(1);
}

const { register } = await import("tsx/esm/api");
register();
const { main } = await import("./lab.ts");
await main(process.argv.slice(2));
