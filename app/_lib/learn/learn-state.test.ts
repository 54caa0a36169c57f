import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runDocument } from "@/lib/runs/testing/run-fixture";
import { requestOf } from "./chapter-preset";
import { CHAPTERS } from "./chapters/all-chapters";
import { hrefOf, isRunOf, type LearnAddress, readAddress, stateOf } from "./learn-state";

const steps = CHAPTERS[4]?.steps ?? assert.fail("expected a fifth chapter");
const address: LearnAddress = { chapter: 5, step: 1, answer: null, run: null };
const request = requestOf(steps[0].cells[0]);
const { stock, vus = null, holdMs, ttlMs, waitTimeoutMs, faults = [] } = request;
const example = runDocument({ strategy: request.strategy });
const config = {
  ...example.config,
  stock,
  vus,
  rate: null,
  holdMs,
  ttlMs,
  waitTimeoutMs,
  faults: [...faults],
  nodes: 3,
};
const ofChapter = { ...example, config };

describe("the address of a chapter", () => {
  it("keeps step, prediction and run", () => {
    const full: LearnAddress = { chapter: 5, step: 2, answer: "unsafe", run: "r-1" };
    const href = hrefOf(full);
    assert.equal(href, "/learn/5?step=2&answer=unsafe&run=r-1");
    assert.deepEqual(readAddress(5, steps, Object.fromEntries(new URL(href, "http://lab").searchParams)), full);
    assert.equal(hrefOf(address), "/learn/5");
  });

  it("ignores values that the chapter does not have", () => {
    for (const query of [
      { step: "3" },
      { step: "0" },
      { step: "x" },
      { answer: "oversold" },
      { run: "" },
      { run: ["a"] },
    ]) {
      assert.deepEqual(readAddress(5, steps, query), address, JSON.stringify(query));
    }
  });
});

describe("the state of a chapter", () => {
  const at = (change: Partial<LearnAddress>, document = null as typeof ofChapter | null) =>
    stateOf({ ...address, ...change }, document, [request]);

  it("asks for a prediction, then offers the run, follows it and explains it", () => {
    assert.equal(at({}).phase, "predict");
    assert.equal(at({ answer: "safe" }).phase, "run");
    const running = at({ answer: "safe", run: example.id }, { ...ofChapter, status: "running" });
    assert.deepEqual([running.phase, running.document?.id], ["running", example.id]);
    assert.equal(at({ answer: "safe", run: example.id }, ofChapter).phase, "revealed");
    assert.equal(at({ answer: "safe", run: example.id }, { ...ofChapter, status: "failed" }).phase, "revealed");
  });

  it("explains a shared run to a reader without a prediction", () => {
    assert.equal(at({ run: example.id }, ofChapter).phase, "revealed");
  });

  it("says that a run is unknown, or of another strategy, and offers a new one", () => {
    const unknown = at({ answer: "safe", run: "gone" });
    assert.deepEqual([unknown.phase, unknown.document], ["run", null]);
    assert.match(unknown.problem ?? "", /no run gone/);
    const other = at({ run: example.id }, { ...ofChapter, strategy: "none" });
    assert.deepEqual([other.phase, other.document], ["predict", null]);
    assert.match(other.problem ?? "", /another strategy or fault/);
  });
});

describe("a run of a chapter", () => {
  it("has the chapter's strategy and faults on more than one node", () => {
    assert.equal(isRunOf(request, ofChapter), true);
    for (const change of [{ faults: [] }, { nodes: 1 }, { fencing: false }]) {
      const changed = { ...ofChapter, config: { ...config, ...change } };
      assert.equal(isRunOf(request, changed), false, JSON.stringify(change));
    }
    assert.equal(isRunOf(request, { ...ofChapter, strategy: "none" }), false);
  });

  it("can have another sale: an address outlives the settings of the matrix", () => {
    for (const change of [{ stock: 1 }, { vus: 1 }, { holdMs: 1 }, { ttlMs: 9_000 }, { seed: 99 }]) {
      const changed = { ...ofChapter, config: { ...config, ...change } };
      assert.equal(isRunOf(request, changed), true, JSON.stringify(change));
    }
  });
});
