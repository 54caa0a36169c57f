import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type KeyName, KeyWatcher } from "./key-watcher";

const names = Array.from({ length: 50 }, (_, index): KeyName => ["buyer", "route", `key-${index}`]);

describe("KeyWatcher", () => {
  it("polls all waiting keys together, and wakes the waiters of changed keys only", async () => {
    const polls: number[] = [];
    let areAllChanged = false;
    const watcher = new KeyWatcher(async (polled) => {
      polls.push(polled.length);
      return areAllChanged ? polled : polled.slice(0, 1);
    });
    const all = names.map((name) => watcher.changed(name, 30_000));
    await all[0];
    areAllChanged = true;
    await Promise.all(all);
    assert.ok(polls.length <= 3, `expected at most 3 polls, found ${polls.length}`);
    assert.equal(polls[0], names.length);
  });

  it("resolves after the limit even if polling fails, and stops polling when no request waits", async () => {
    let polls = 0;
    const watcher = new KeyWatcher(() => {
      polls += 1;
      return Promise.reject(new Error("connection refused"));
    });
    await watcher.changed(names[0] as KeyName, 60);
    const pollsOfFirst = polls;
    await watcher.changed(names[1] as KeyName, 60);
    assert.ok(pollsOfFirst >= 1 && polls > pollsOfFirst, `expected more polls than ${pollsOfFirst}, found ${polls}`);
    assert.deepEqual(Reflect.get(watcher, "waiting"), new Map());
  });
});
