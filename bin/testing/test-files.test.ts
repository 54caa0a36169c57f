import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { aloneReason, processTestFiles, stageTestFiles, testPrograms, unitTestFiles } from "./test-files";

const FILES = [
  "lib/a.test.ts",
  "lib/b.process.test.ts",
  "lib/c.ts",
  "app/d.test.tsx",
  "tests/e.test.ts",
  "tests/integration/locks/f.test.ts",
  "tests/e2e/g.spec.ts",
  "tests/support/seller-main.ts",
  "tests/support/lock-entry.ts",
  "node_modules/h.test.ts",
  ".next-test/i.test.ts",
];

let root = "";
before(() => {
  root = mkdtempSync(path.join(tmpdir(), "test-files-"));
  for (const file of FILES) {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), "");
  }
});
after(() => rmSync(root, { recursive: true, force: true }));

const relative = (files: readonly string[]) => files.map((file) => path.relative(root, file));

describe("test files", () => {
  it("belong to the unit, process or folder stage by path and name", () => {
    assert.deepEqual(relative(unitTestFiles(root)), ["app/d.test.tsx", "lib/a.test.ts", "tests/e.test.ts"]);
    assert.deepEqual(relative(processTestFiles(root)), ["lib/b.process.test.ts"]);
    assert.deepEqual(relative(stageTestFiles(root, "integration")), ["tests/integration/locks/f.test.ts"]);
    assert.deepEqual(relative(stageTestFiles(root, "e2e")), ["tests/e2e/g.spec.ts"]);
  });

  it("start programs and modules of the tests, by their names", () => {
    assert.deepEqual(relative(testPrograms(root)), ["tests/support/lock-entry.ts", "tests/support/seller-main.ts"]);
  });

  it("run alone if a comment line says so with a reason", () => {
    const file = path.join(root, "lib/a.test.ts");
    assert.equal(aloneReason(file), null);
    writeFileSync(file, 'import "x";\n// @alone: it sets the environment.\n');
    assert.equal(aloneReason(file), "it sets the environment.");
    writeFileSync(file, "const text = '// @alone: no';\n// @alone:\n");
    assert.equal(aloneReason(file), null);
  });
});
