import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

/** The lint rule that keeps clocks and dice out of the library, tried on offenders in a folder of the test's own. */

const repository = fileURLToPath(new URL("../..", import.meta.url));
const biome = path.join(repository, "node_modules/@biomejs/biome/bin/biome");

const offenders = [
  "export const at = Date.now();",
  "export const at = new Date();",
  "export const at = performance.now();",
  "export const at = process.hrtime.bigint();",
  "export const timer = setTimeout(() => {}, 1);",
  "export const timer = globalThis.setInterval(() => {}, 1);",
  "export const signal = AbortSignal.timeout(1);",
  "export const dice = Math.random();",
  'import { randomBytes } from "node:crypto";\nexport const dice = randomBytes(1);',
  'import { setTimeout } from "node:timers/promises";\nexport const sleep = setTimeout;',
  'import { performance as clock } from "node:perf_hooks";\nexport const at = clock.now();',
];
const innocents = {
  "injected.ts": "export const atMs = (clock: { nowMs(): number }) => Math.max(0, clock.nowMs());",
  "clock.ts": "export const at = Date.now();",
  "random.ts": "export const dice = Math.random();",
};

/** What biome says of each file, by name. */
let complaints: Map<string, string[]>;

before(() => {
  const folder = mkdtempSync(path.join(tmpdir(), "ambient-clock-"));
  const locks = path.join(folder, "lib/locks");
  mkdirSync(locks, { recursive: true });
  for (const file of ["biome.json", ...lintPlugins()]) cpSync(path.join(repository, file), path.join(folder, file));
  offenders.forEach((source, index) => {
    writeFileSync(path.join(locks, `offender-${index}.ts`), `${source}\n`);
  });
  for (const [name, source] of Object.entries(innocents)) writeFileSync(path.join(locks, name), `${source}\n`);
  const options = ["lint", "--vcs-enabled=false", "--reporter=json", "--max-diagnostics=none", "lib/locks"];
  const { stdout, stderr } = spawnSync(process.execPath, [biome, ...options], { cwd: folder, encoding: "utf8" });
  rmSync(folder, { recursive: true });
  complaints = readReport(stdout, stderr);
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

describe("the ban on ambient clocks and dice in lib/locks", () => {
  offenders.forEach((source, index) => {
    it(`refuses ${source.split("\n")[0]}`, () => {
      const said = complaints.get(`offender-${index}.ts`)?.join() ?? "nothing";
      assert.match(said, /noRestrictedGlobals|noRestrictedImports|Clock and RandomSource ports/);
    });
  });

  for (const name of Object.keys(innocents)) {
    it(`lets ${name} through`, () => assert.deepEqual(complaints.get(name), undefined));
  }
});
