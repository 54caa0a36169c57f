import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { SOURCE_MAP_FLAG } from "../build/source-map-flag";
import { ROOT } from "../supervisor/paths";
import { bundleTests } from "./test-bundle";

const PROGRAM = `import fc from "fast-check";
import { Redis } from "ioredis";
import pg from "pg";
import { z } from "zod";
import { prisma } from "../../lib/services/postgres";

console.log(z.int().parse(7), typeof Redis, typeof pg.Client, typeof prisma, fc.readConfigureGlobal().seed);
throw new Error("on line 8");
`;

describe("a bundle of tests for many processes", () => {
  let folder: string;
  let bundled: string;
  let source: string;

  before(async () => {
    // Inside the checkout, so that the bundle finds its packages.
    mkdirSync(path.join(ROOT, ".lab"), { recursive: true });
    folder = mkdtempSync(path.join(ROOT, ".lab", "bundle-"));
    source = path.join(folder, "program.ts");
    writeFileSync(source, PROGRAM);
    bundled = (await bundleTests([source], { outDir: path.join(folder, "out"), isForMany: true }))(source);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const run = () => {
    const args = [SOURCE_MAP_FLAG, "--import", "./bin/testing/seed-properties.mjs", bundled];
    const env = { ...process.env, PROPERTY_SEED: "41" };
    return spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: "utf8", timeout: 60_000 });
  };

  it("contains the packages that most tests load, and shares fast-check with the module that sets its seed", () => {
    const { stdout } = run();
    assert.equal(stdout, "7 function function function 41\n");
    const text = readFileSync(bundled, "utf8");
    for (const name of ["ioredis", "pg", "zod", "@prisma/client"])
      assert.doesNotMatch(text, new RegExp(`^import .*"${name}[/"]`, "m"), name);
    assert.match(text, /from "fast-check"/);
  });

  it("names lines of the sources in stack traces", () => {
    const { stderr } = run();
    assert.match(stderr, new RegExp(`${path.basename(folder)}/program.ts:8`), stderr);
  });
});
