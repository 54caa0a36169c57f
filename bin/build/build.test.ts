import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { hashOfInputs, INPUTS } from "./build";
import { bundlePrograms } from "./programs";

let dir = "";
before(() => {
  dir = mkdtempSync(path.join(tmpdir(), "build-"));
});
after(() => rmSync(dir, { recursive: true, force: true }));

describe("the build", () => {
  it("is stale after a change of any file that its programs contain", async () => {
    const sources = await bundlePrograms(dir);
    assert.ok(sources.includes("server.ts"), sources.join(", "));
    const covered = [...INPUTS, "generated"];
    const uncovered = sources.filter(
      (file) => !covered.some((input) => file === input || file.startsWith(`${input}/`)),
    );
    assert.deepEqual(uncovered, [], "add these to INPUTS in bin/build/build.ts");
  });

  it("is stale after a change of a source, and not after a change of a test", () => {
    const root = path.join(dir, "checkout");
    mkdirSync(path.join(root, "lib"), { recursive: true });
    const write = (name: string, text: string) => {
      writeFileSync(path.join(root, "lib", name), text);
      return hashOfInputs(root);
    };
    const first = write("a.ts", "1");
    assert.notEqual(write("a.ts", "2"), first);
    assert.equal(write("a.ts", "1"), first);
    assert.equal(write("a.test.ts", "1"), first);
  });
});
