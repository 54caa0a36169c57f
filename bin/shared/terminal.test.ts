import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { printable } from "../../load-tests/lib/printable.js";
import { ROOT } from "../supervisor/paths";

const BIN = path.join(ROOT, "bin");

describe("the terminal", () => {
  it("is written to by one file, which escapes, so that no text of a run, a server or an error reaches it raw", () => {
    const files = readdirSync(BIN, { recursive: true, encoding: "utf8" })
      // The test commands forward the output of the tests.
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !file.startsWith("testing"));
    const writing = files.filter((file) =>
      /\bconsole\.\w+\(|process\.std(out|err)\.write\(/.test(readFileSync(path.join(BIN, file), "utf8")),
    );
    assert.deepEqual(writing, [path.join("shared", "terminal.ts")]);
  });

  it("gets line breaks and tabs unchanged, and other control characters escaped", () => {
    assert.equal(printable("a\tb\nc\u001b[2J\u009b\u202e\r"), "a\tb\nc\\u001b[2J\\u009b\\u202e\\u000d");
  });
});
