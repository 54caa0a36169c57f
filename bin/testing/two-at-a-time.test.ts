import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runTwoAtATime } from "./two-at-a-time";

/** Items that run until the test ends them. */
function startItems(items: readonly string[], excludesEachOther = (_one: string, _other: string) => false) {
  const aborter = new AbortController();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (item: string) => {
    begun.push(item);
    return new Promise<string>((resolve) => ends.set(item, () => resolve(`${item} ended`)));
  };
  const results = runTwoAtATime(items, { run, signal: aborter.signal, excludesEachOther });
  const end = async (item: string) => {
    ends.get(item)?.();
    await new Promise(setImmediate);
  };
  return { begun, end, results, abort: () => aborter.abort() };
}

describe("runTwoAtATime", () => {
  it("begins two items, and the next one when either has ended", async () => {
    const { begun, end, results } = startItems(["a", "b", "c", "d"]);
    assert.deepEqual(begun, ["a", "b"]);
    await end("b");
    assert.deepEqual(begun, ["a", "b", "c"]);
    await end("c");
    assert.deepEqual(begun, ["a", "b", "c", "d"]);
    await end("d");
    await end("a");
    assert.deepEqual(await results, ["a ended", "b ended", "c ended", "d ended"]);
  });

  it("begins no item after an abort, and returns the results of those that had begun", async () => {
    const { begun, end, results, abort } = startItems(["a", "b", "c"]);
    abort();
    await end("b");
    await end("a");
    assert.deepEqual(begun, ["a", "b"]);
    assert.deepEqual(await results, ["a ended", "b ended"]);
  });

  it("never runs two items together that exclude each other, and begins a later one in place of a waiting one", async () => {
    const sameLetter = (one: string, other: string) => one[0] === other[0];
    const { begun, end, results } = startItems(["a1", "a2", "b1", "a3"], sameLetter);
    assert.deepEqual(begun, ["a1", "b1"]);
    await end("b1");
    assert.deepEqual(begun, ["a1", "b1"]);
    await end("a1");
    assert.deepEqual(begun, ["a1", "b1", "a2"]);
    await end("a2");
    assert.deepEqual(begun, ["a1", "b1", "a2", "a3"]);
    await end("a3");
    assert.deepEqual(await results, ["a1 ended", "a2 ended", "b1 ended", "a3 ended"]);
  });

  it("runs a single item", async () => {
    const { end, results } = startItems(["a"]);
    await end("a");
    assert.deepEqual(await results, ["a ended"]);
  });
});
