import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

/** Tests the lint rule that bans direct clock and random calls in the library, on sample files in a temporary folder. */

const repository = fileURLToPath(new URL("../..", import.meta.url));
const biome = path.join(repository, "node_modules/@biomejs/biome/bin/biome");

const violations = [
  "export const at = Date.now();",
  "export const at = new Date();",
  "export const at = performance.now();",
  "export const at = process.hrtime.bigint();",
  "export const timer = setTimeout(() => {}, 1);",
  "export const timer = globalThis.setInterval(() => {}, 1);",
  "export const signal = AbortSignal.timeout(1);",
  "export const value = Math.random();",
  'import { randomBytes } from "node:crypto";\nexport const value = randomBytes(1);',
  'import { setTimeout } from "node:timers/promises";\nexport const sleep = setTimeout;',
  'import { performance as clock } from "node:perf_hooks";\nexport const at = clock.now();',
];
const allowed = {
  "injected.ts": "export const atMs = (clock: { nowMs(): number }) => Math.max(0, clock.nowMs());",
  "clock.ts": "export const at = Date.now();",
  "random.ts": "export const value = Math.random();",
};

/** Biome diagnostics by file name. */
let diagnostics: Map<string, string[]>;

before(() => {
  const folder = mkdtempSync(path.join(tmpdir(), "ambient-clock-"));
  const locks = path.join(folder, "lib/locks");
  mkdirSync(locks, { recursive: true });
  for (const file of ["biome.json", ...lintPlugins()]) cpSync(path.join(repository, file), path.join(folder, file));
  violations.forEach((source, index) => {
    writeFileSync(path.join(locks, `violation-${index}.ts`), `${source}\n`);
  });
  for (const [name, source] of Object.entries(allowed)) writeFileSync(path.join(locks, name), `${source}\n`);
  const options = ["lint", "--vcs-enabled=false", "--reporter=json", "--max-diagnostics=none", "lib/locks"];
  const { stdout, stderr } = spawnSync(process.execPath, [biome, ...options], { cwd: folder, encoding: "utf8" });
  rmSync(folder, { recursive: true });
  diagnostics = readReport(stdout, stderr);
});

function lintPlugins(): string[] {
  const { overrides } = JSON.parse(readFileSync(path.join(repository, "biome.json"), "utf8"));
  return overrides.flatMap(({ plugins = [] }: { plugins?: string[] }) => plugins);
}

function readReport(stdout: string, stderr: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  assert.ok(stdout.startsWith("{"), stdout + stderr);
  for (const diagnostic of JSON.parse(stdout).diagnostics) {
    const name = path.basename(diagnostic.location.path.file ?? diagnostic.location.path);
    found.set(name, [...(found.get(name) ?? []), `${diagnostic.category} ${JSON.stringify(diagnostic.message)}`]);
  }
  return found;
}

describe("the ban on direct clock and random calls in lib/locks", () => {
  violations.forEach((source, index) => {
    it(`rejects ${source.split("\n")[0]}`, () => {
      const found = diagnostics.get(`violation-${index}.ts`)?.join() ?? "no diagnostics";
      assert.match(found, /noRestrictedGlobals|noRestrictedImports|Clock and RandomSource ports/);
    });
  });

  for (const name of Object.keys(allowed)) {
    it(`allows ${name}`, () => assert.deepEqual(diagnostics.get(name), undefined));
  }
});
