import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { FAULT_IDS } from "../../lib/faults/ids";
import { recordedCommands } from "../../lib/stock/recorded-commands";
import { stockStrategies } from "../../lib/stock/stock-strategies";
import { type Element, find, findAll, has, parseHtml, tagged, textOf } from "./element-tree";
import { loadPages } from "./page-bundle";

type Pages = typeof import("./pages");

let pages: Pages;
let remove = () => {};

before(async () => {
  ({ pages, remove } = await loadPages<Pages>("tests/pages/pages.ts"));
});
after(() => remove());

async function pageOf(id: string): Promise<Element> {
  return parseHtml(await pages.strategyPage(id, new Map()));
}

describe("the page of a strategy", () => {
  for (const id of stockStrategies.keys()) {
    it(`shows every recorded command and every fault of ${id}`, async () => {
      const page = await pageOf(id);
      const text = textOf(page);
      const { steps = [], stock } = recordedCommands.strategies[id] ?? {};
      assert.ok(steps.length > 0 && stock);
      for (const step of steps) assert.ok(text.includes(step.text), `expected the command ${step.text}`);
      const result = textOf(find(page, has("data-testid", "recorded-result")));
      assert.match(result, new RegExp(`from ${stock.before} to ${stock.after}`));
      assert.equal(/overwrote/.test(result), stock.before - stock.after < 2, result);
      const isUnsafe = stockStrategies.get(id)?.traits.expected.threeNodes === "unsafe";
      for (const fault of isUnsafe ? [] : FAULT_IDS) assert.ok(text.includes(fault), `expected the fault ${fault}`);
    });
  }

  it("links a fault to the Lab and to its newest run", async () => {
    const run = await pages.CORPUS.find(({ name }) => name === "fault-pause-holder")?.make();
    assert.ok(run);
    const page = parseHtml(await pages.strategyPage("redis-lock", new Map([["pause-holder", run]])));
    const hrefs = findAll(page, tagged("a")).map(({ attributes }) => attributes.href ?? "");
    assert.ok(hrefs.includes(`/runs/${run.id}`), hrefs.join(" "));
    assert.ok(
      hrefs.some((href) => /strategy=redis-lock.*fault=pause-holder/.test(href)),
      hrefs.join(" "),
    );
  });
});
