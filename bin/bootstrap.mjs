#!/usr/bin/env node
// The way in: plain JavaScript without dependencies, so that it runs in a fresh clone on any Node.js. It sees to
// packages and generated code, then hands over to bin/lab.ts in the same process, so signals and exit codes need no relay.
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
// Where the command was typed, as npm says it too: paths in its arguments are meant from there.
process.env.INIT_CWD ??= process.cwd();
process.chdir(root);

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 9)) {
  console.error(`Node.js 20.9 or newer is needed; this is ${process.version}. Fix: install it from https://nodejs.org`);
  process.exit(1);
}

try {
  // Imported only now: an older Node.js should read the sentence above, not a syntax error.
  const { ensurePackages } = await import("./shared/ensure-packages.mjs");
  const step = await ensurePackages(root);
  // One that a parent process handed over says more: it may have been the one that installed.
  process.env.LAB_PACKAGES_STEP ??= JSON.stringify(step);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

const { register } = await import("tsx/esm/api");
register();
const { main } = await import("./lab.ts");
await main(process.argv.slice(2));
