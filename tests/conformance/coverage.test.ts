import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { stockStrategies } from "../../lib/stock/stock-strategies";

const folder = new URL(".", import.meta.url);

it("runs the conformance suite on every strategy", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
  const calls = files.flatMap((name) => [
    ...readFileSync(new URL(name, folder), "utf8").matchAll(/conformance\("([a-z-]+)"/g),
  ]);
  const covered = new Set(calls.map(([, id]) => id));
  const missing = [...stockStrategies.keys()].filter((id) => !covered.has(id));
  assert.deepEqual(
    missing,
    [],
    "these strategies have no file in tests/conformance; docs/adding-a-strategy.md shows how to add one",
  );
});
