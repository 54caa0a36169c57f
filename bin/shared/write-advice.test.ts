import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { adviseOnWrite } from "./write-advice.mjs";

describe("advice on a file that cannot be written", () => {
  for (const [code, advice] of [
    ["EROFS", /Copy the folder to a place that you can write to/],
    ["EACCES", /make yourself its owner/],
    ["ENOSPC", /disk is full.*Free some space/],
  ] as const) {
    it(`names the file and the fix for ${code}`, () => {
      const text = adviseOnWrite(Object.assign(new Error(code), { code, path: "/lab/.lab/main" })) ?? "";
      assert.match(text, advice);
      assert.match(text, /\/lab\/\.lab\/main/);
    });
  }

  it("recognizes the error of a folder whose place a file has", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "advice-"));
    const file = path.join(folder, "main");
    writeFileSync(file, "");
    try {
      mkdirSync(path.join(file, "logs"), { recursive: true });
      assert.fail("expected an error, found none");
    } catch (error) {
      assert.match(adviseOnWrite(error) ?? "", /a file is in its place/);
    }
    rmSync(folder, { recursive: true });
  });

  it("leaves other errors as they are", () => assert.equal(adviseOnWrite(new Error("port in use")), null));
});
