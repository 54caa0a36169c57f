import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { stockStrategies } from "../../lib/stock/stock-strategies";

const folder = new URL(".", import.meta.url);

it("holds every strategy of the catalogue to the conformance suite", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
  const calls = files.flatMap((name) => [
    ...readFileSync(new URL(name, folder), "utf8").matchAll(/conformance\("([a-z-]+)"/g),
  ]);
  const covered = new Set(calls.map(([, id]) => id));
  const missing = [...stockStrategies.keys()].filter((id) => !covered.has(id));
  assert.deepEqual(missing, [], "these have no line in tests/conformance: see docs/adding-a-strategy.md");
});
