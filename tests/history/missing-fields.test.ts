import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { checkHistory } from "../../lib/history/check-history";

const CASES = new URL("./cases/", import.meta.url);
type Line = Readonly<Record<string, unknown>>;
const parse = (text: string): Line[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
const without = (line: Line, field: string): Line =>
  Object.fromEntries(Object.entries(line).filter(([name]) => name !== field));

async function assertNotUnsafe(lines: readonly Line[], { at, field }: { at: number; field: string }): Promise<void> {
  const damaged = lines.map((line, index) => JSON.stringify(index === at ? without(line, field) : line));
  const { verdict, findings } = await checkHistory([damaged.join("\n")]);
  assert.notEqual(verdict, "unsafe", `without ${field} of line ${at + 1}: ${findings[0]?.sentence}`);
}

describe("an order whose purchase lacks one field is a doubt and not a violation", () => {
  for (const file of ["clean-repeated-key.ndjson", "clean-rows-that-do-not-name-their-purchase.ndjson"]) {
    it(`for every field of ${file}`, async () => {
      const lines = parse(readFileSync(new URL(file, CASES), "utf8"));
      for (const [at, line] of lines.entries()) {
        for (const field of Object.keys(line)) await assertNotUnsafe(lines, { at, field });
      }
    });
  }
});
