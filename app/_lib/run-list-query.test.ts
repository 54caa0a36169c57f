import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pageText, runListHref } from "./run-list-href";
import { runListQuery } from "./run-list-query";

describe("address of the list of runs", () => {
  it("carries filters, page and selected runs", () => {
    const query = { strategy: "none", verdict: "unsafe", fault: "pause-holder", sweep: "s-1", page: "3", runs: "a,b" };
    const selected = runListQuery(query);
    assert.equal(
      runListHref(selected),
      "/runs?strategy=none&verdict=unsafe&fault=pause-holder&sweep=s-1&page=3&runs=a,b",
    );
    assert.deepEqual(runListQuery({}), { filter: {}, page: 1, picked: [] });
    assert.equal(runListHref({ filter: {}, page: 1, picked: [] }), "/runs");
  });

  it("ignores malformed values", () => {
    const selected = runListQuery({ verdict: "perfect", fault: ["a"], page: "-1", runs: "<x>" });
    assert.deepEqual(selected, { filter: {}, page: 1, picked: [] });
  });
});

describe("position in the list of runs", () => {
  it("names the shown runs and their total", () => {
    assert.equal(pageText({ page: 1, size: 50, total: 1 }), "1 run");
    assert.equal(pageText({ page: 2, size: 50, total: 77 }), "51 to 77 of 77 runs");
    assert.equal(pageText({ page: 3, size: 50, total: 77 }), "none of 77 runs on page 3");
  });
});
