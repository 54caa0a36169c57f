import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { stockStrategies } from "../../lib/stock/stock-strategies";
import { ROOT } from "../supervisor/paths";
import { GENERATED_PAGES, generatePage } from "./generated-pages";
import { fullTables, replaceGenerated, shortTable } from "./strategy-table";

const strategies = [...stockStrategies.values()].map(({ traits }) => traits);

describe("generated pages", () => {
  it("list every strategy in both tables", () => {
    for (const { id } of strategies) {
      assert.ok(shortTable(strategies).includes(`\`${id}\``), `the README table lacks ${id}`);
      assert.ok(fullTables(strategies).includes(`\`${id}\``), `the tables of docs/strategies.md lack ${id}`);
    }
  });

  it("replace only the text between the markers", () => {
    const page = "before\n<!-- generated:x -->\nold\n<!-- /generated:x -->\nafter\n";
    assert.equal(
      replaceGenerated(page, "x", "new"),
      "before\n<!-- generated:x -->\nnew\n<!-- /generated:x -->\nafter\n",
    );
    assert.throws(() => replaceGenerated(page, "y", "new"), /generated:y/);
  });

  for (const page of GENERATED_PAGES) {
    it(`${page} matches the code`, async () => {
      const committed = await readFile(join(ROOT, page), "utf8");
      assert.equal(
        committed,
        generatePage(page, committed),
        `${page} is out of date: run "npm run lab -- docs" and commit the result`,
      );
    });
  }
});
