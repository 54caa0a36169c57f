import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { stockStrategies } from "@/lib/stock/stock-strategies";
import { sourceOf } from "./strategy-source";

describe("the source of a strategy", () => {
  for (const { traits } of stockStrategies.values()) {
    it(`is the file of ${traits.id}, which cites the reference`, () => {
      const { file, reference } = sourceOf(traits);
      const code = readFileSync(file, "utf8");
      assert.ok(code.includes(`id: "${traits.id}"`), `${file} does not declare ${traits.id}`);
      assert.ok(reference, `${traits.id} has no reference`);
      assert.match(code, new RegExp(`@see ${reference.url.replace(/[.*+?^$()]/g, "\\$&")}(\\s|$)`), file);
    });
  }
});
