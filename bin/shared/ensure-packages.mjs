// Plain JavaScript without dependencies, because it installs the dependencies.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { withFileLock } from "./file-lock.mjs";

const INSTALL_LIMIT_MS = 15 * 60_000;
const GENERATE_LIMIT_MS = 2 * 60_000;

/**
 * Installs packages and generates the Prisma client if they are missing or stale. One process at a time does it.
 * @param {string} root
 * @returns {Promise<{ detail: string, durationMs: number }>} a step for the step list
 */
export async function ensurePackages(root) {
  const startedMs = performance.now();
  const done = [];
  const lock = {
    file: path.join(root, ".lab", "bootstrap.lock"),
    waitTimeoutMs: INSTALL_LIMIT_MS + GENERATE_LIMIT_MS,
    onWait: (/** @type {number} */ pid) => console.error(`Waiting for process ${pid}, which is installing packages.`),
  };
  if (!packagesAreCurrent(root) || !clientIsCurrent(root)) {
    await withFileLock(lock, async () => {
      // Checked again: another process may have installed them while this one waited.
      if (!packagesAreCurrent(root)) {
        console.error("Installing packages (npm ci). The first time takes about a minute.");
        await install(root);
        done.push("installed");
      }
      if (!clientIsCurrent(root)) {
        await generate(root);
        done.push("Prisma client generated");
      }
    });
  }
  return { detail: done.join(", ") || "up to date", durationMs: Math.round(performance.now() - startedMs) };
}

/** @param {string} file */
function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null; // Absent, or incomplete after an interrupted install: both mean "install".
  }
}

const platformStamp = () => `${process.platform}-${process.arch}`;
/** @param {string} root */
const stampFile = (root) => path.join(root, "node_modules", ".lab-platform");

/**
 * Compares npm's record of installed packages with the lock file by content, because file times change with every clone.
 * @param {string} root
 */
export function packagesAreCurrent(root) {
  const wanted = readJson(path.join(root, "package-lock.json"))?.packages;
  const installed = readJson(path.join(root, "node_modules", ".package-lock.json"))?.packages;
  if (!wanted || !installed) return false;
  const stamp = existsSync(stampFile(root)) ? readFileSync(stampFile(root), "utf8") : platformStamp();
  if (stamp !== platformStamp()) return false;
  return Object.entries(wanted).every(([name, entry]) => {
    if (name === "") return true;
    const found = installed[name];
    if (!found) return entry.optional === true || entry.peer === true;
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

/** @param {string} root */
async function install(root) {
  const npmCli = process.env.npm_execpath;
  const viaNode = npmCli !== undefined && /\.[cm]?js$/.test(npmCli) && existsSync(npmCli);
  const [command, first] = viaNode ? [process.execPath, [npmCli]] : ["npm", []];
  // No install script is needed: server binaries come as packages, and Prisma's script rejects Node.js before 20.19.
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--include=dev"];
  const task = { command, root, limitMs: INSTALL_LIMIT_MS };
  try {
    await run({ ...task, args: [...first, "ci", ...flags], fix: "npm ci" });
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes("EUSAGE")) throw error;
    // package.json was edited by hand. --no-save keeps the lock file as it is.
    console.error("package-lock.json does not match package.json; running npm install --no-save.");
    await run({ ...task, args: [...first, "install", "--no-save", ...flags], fix: "npm install" });
  }
  writeFileSync(stampFile(root), platformStamp());
}

/** @param {string} root */
function clientHash(root) {
  const hash = createHash("sha256");
  hash.update(readFileSync(path.join(root, "prisma", "schema.prisma")));
  hash.update(String(readJson(path.join(root, "node_modules", "prisma", "package.json"))?.version));
  return hash.digest("hex");
}

/** @param {string} root */
const clientStamp = (root) => path.join(root, "generated", ".schema-hash");

/** @param {string} root */
export function clientIsCurrent(root) {
  if (!existsSync(path.join(root, "generated", "prisma", "client.ts"))) return false;
  return existsSync(clientStamp(root)) && readFileSync(clientStamp(root), "utf8") === clientHash(root);
}

/**
 * Prisma downloads its schema engine before it generates the client, although generating does not use it. The variable
 * replaces the download by any executable.
 * @param {string} root
 */
export async function generate(root) {
  await run({
    command: process.execPath,
    args: [...olderNodeFlags(), path.join("node_modules", "prisma", "build", "index.js"), "generate", "--no-hints"],
    root,
    limitMs: GENERATE_LIMIT_MS,
    fix: "npm run generate",
    env: {
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: "1",
      CHECKPOINT_DISABLE: "1",
    },
  });
  mkdirSync(path.join(root, "generated"), { recursive: true });
  writeFileSync(clientStamp(root), clientHash(root));
}

/** Before Node.js 20.19, `require` cannot load the ES modules that Prisma requires; tsx can. */
function olderNodeFlags() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return [];
  return ["--require", "./bin/shared/older-node.cjs", "--import", "tsx"];
}

/**
 * Runs a command and prints its output only if it fails.
 * @param {{ command: string, args: string[], root: string, limitMs: number, fix: string, env?: Record<string, string> }} task
 * @returns {Promise<void>}
 */
function run({ command, args, root, limitMs, fix, env }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: limitMs,
      killSignal: "SIGKILL",
    });
    let output = "";
    const keep = (/** @type {Buffer} */ chunk) => {
      output = (output + chunk).slice(-8_000);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.once("error", (cause) => reject(new Error(`Cannot start ${command}: ${cause.message}`, { cause })));
    child.once("close", (code, signal) => {
      if (code === 0) resolve();
      else
        reject(
          new Error(`${output}\n\`${fix}\` failed (${signal ?? `exit code ${code}`}). Run it by hand to see why.`),
        );
    });
  });
}
