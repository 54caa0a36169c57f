import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CheckedRuns, checkRun } from "./checked-runs";
import type { RunDocument } from "./document";
import { runDocument } from "./testing/run-fixture";

/** Counts checks, and checks an empty history each time. */
function countingChecks() {
  const counter = { made: 0 };
  const checks = new CheckedRuns(() => {
    counter.made += 1;
    return checkRun([]);
  });
  return { checks, counter };
}

const closedRun = (id: string, operations: number) => ({ id, operations, history: [] });
function documentOf(id: string, requests: number): RunDocument {
  const document = runDocument({ id });
  return { ...document, counts: { ...document.counts, requests } };
}

describe("checked runs", () => {
  it("return the result of a closed run to every viewer without a second check", async () => {
    const { checks, counter } = countingChecks();
    const closed = await checks.checkClosed(closedRun("a", 500));
    const viewed = await Promise.all([checks.of(documentOf("a", 500)), checks.of(documentOf("a", 500))]);
    assert.ok(viewed.every((result) => result === closed));
    assert.equal(counter.made, 1);
  });

  it("check a run that another process closed once for all viewers", async () => {
    const { checks, counter } = countingChecks();
    await Promise.all([checks.of(documentOf("a", 500)), checks.of(documentOf("a", 500))]);
    assert.equal(counter.made, 1);
  });

  it("evict the least recently used run beyond their limit of operations", async () => {
    const { checks, counter } = countingChecks();
    await checks.checkClosed(closedRun("first", 70_000));
    await checks.checkClosed(closedRun("second", 70_000));
    await checks.of(documentOf("first", 70_000));
    await checks.checkClosed(closedRun("third", 70_000));
    await checks.of(documentOf("first", 70_000));
    assert.equal(counter.made, 3, "the first run is still in the cache");
    await checks.of(documentOf("second", 70_000));
    assert.equal(counter.made, 4, "the second run was evicted");
  });

  it("keep the latest run even if it is larger than the limit", async () => {
    const { checks, counter } = countingChecks();
    await checks.checkClosed(closedRun("large", 1_000_000));
    await checks.of(documentOf("large", 1_000_000));
    assert.equal(counter.made, 1);
  });

  it("check again after a check that failed", async () => {
    let fails = true;
    const checks = new CheckedRuns((source) => (fails ? Promise.reject(new Error("no database")) : checkRun(source)));
    await assert.rejects(checks.checkClosed(closedRun("a", 1)), /no database/);
    fails = false;
    const { report } = await checks.checkClosed(closedRun("a", 1));
    assert.equal(report.verdict, "inconclusive");
  });
});
