import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { VIOLATION_KINDS } from "../../lib/history/finding";
import { historyLineSchema } from "../../lib/history/schema";
import { EXPECTED } from "./expected";

const page = readFileSync(new URL("../../docs/history-format.md", import.meta.url), "utf8");

describe("docs/history-format.md", () => {
  it("has a row for every violation", () => {
    for (const kind of VIOLATION_KINDS) assert.match(page, new RegExp(`^\\| \`${kind}\` \\|`, "m"), kind);
  });

  it("names every doubt and remark of the hand-made histories", () => {
    const kinds = new Set(Object.values(EXPECTED).flatMap(({ doubts = [] }) => doubts));
    for (const kind of kinds) assert.ok(page.includes(`\`${kind}\``), `expected the page to name ${kind}`);
  });

  it("names every field of every line", () => {
    for (const line of historyLineSchema.options) {
      for (const field of Object.keys(line.shape)) {
        if (field !== "type") assert.ok(page.includes(`\`${field}\``), `${line.shape.type.value}.${field}`);
      }
    }
  });
});
