import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { z } from "zod";
import { ROOT } from "../supervisor/paths";
import { packagesAreCurrent } from "./ensure-packages.mjs";

let root = "";
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), "packages-"));
  mkdirSync(path.join(root, "node_modules"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const writeJson = (file: string, value: unknown) => writeFileSync(path.join(root, file), JSON.stringify(value));
const lock = (packages: Record<string, unknown>) => writeJson("package-lock.json", { packages });
const installed = (packages: Record<string, unknown>) => writeJson("node_modules/.package-lock.json", { packages });
const left = { version: "1.0.0", integrity: "sha512-a" };

describe("installed packages", () => {
  it("are current if npm recorded what the lock file lists", () => {
    lock({ "": { name: "lab" }, "node_modules/left": left });
    installed({ "node_modules/left": left });
    assert.equal(packagesAreCurrent(root), true);
  });

  it("are stale if one is missing, has another version or another integrity hash", () => {
    lock({ "node_modules/left": left });
    installed({});
    assert.equal(packagesAreCurrent(root), false);
    installed({ "node_modules/left": { ...left, version: "1.0.1" } });
    assert.equal(packagesAreCurrent(root), false);
    installed({ "node_modules/left": { ...left, integrity: "sha512-b" } });
    assert.equal(packagesAreCurrent(root), false);
  });

  it("may lack optional packages, such as those of other platforms", () => {
    lock({ "node_modules/left": left, "node_modules/left-darwin": { version: "1.0.0", optional: true } });
    installed({ "node_modules/left": left });
    assert.equal(packagesAreCurrent(root), true);
  });

  it("are stale if nothing is installed or the record is incomplete", () => {
    lock({ "node_modules/left": left });
    assert.equal(packagesAreCurrent(root), false);
    writeFileSync(path.join(root, "node_modules", ".package-lock.json"), '{"packages": {');
    assert.equal(packagesAreCurrent(root), false);
  });

  it("are stale if they were installed for another platform", () => {
    lock({ "node_modules/left": left });
    installed({ "node_modules/left": left });
    writeFileSync(path.join(root, "node_modules", ".lab-platform"), "plan9-mips");
    assert.equal(packagesAreCurrent(root), false);
  });
});

describe("package-lock.json", () => {
  const schema = z.object({
    packages: z.record(
      z.string(),
      z.object({
        optionalDependencies: z.record(z.string(), z.string()).optional(),
        resolved: z.string().optional(),
      }),
    ),
  });
  const { packages } = schema.parse(JSON.parse(readFileSync(path.join(ROOT, "package-lock.json"), "utf8")));

  it("locks the packages of every platform: npm ci fails without them if the registry cannot resolve them", () => {
    const isPinned = (range: string) => /^\d+\.\d+\.\d+/.test(range);
    const missing = Object.values(packages)
      .flatMap((entry) => Object.entries(entry.optionalDependencies ?? {}))
      .filter(([name, range]) => isPinned(range) && !packages[`node_modules/${name}`])
      .map(([name]) => name);
    assert.deepEqual(missing, []);
  });

  it("names no registry's host", () => {
    const hosts = Object.values(packages).map(({ resolved }) => resolved);
    assert.deepEqual(
      hosts.filter((url) => url !== undefined),
      [],
    );
  });
});
