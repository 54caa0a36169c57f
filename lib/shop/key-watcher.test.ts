import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type KeyName, KeyWatcher } from "./key-watcher";

const names = Array.from({ length: 50 }, (_, index): KeyName => ["buyer", "route", `key-${index}`]);

describe("KeyWatcher", () => {
  it("looks up together what many wait for, and wakes those whose key has changed", async () => {
    const looks: number[] = [];
    let isAnswered = false;
    const watcher = new KeyWatcher(async (asked) => {
      looks.push(asked.length);
      return isAnswered ? asked : asked.slice(0, 1);
    });
    const all = names.map((name) => watcher.changed(name, 30_000));
    await all[0];
    isAnswered = true;
    await Promise.all(all);
    assert.ok(looks.length <= 3, `${looks.length} looks`);
    assert.equal(looks[0], names.length);
  });

  it("gives up after the limit, also when looking fails, and looks no more when nobody waits", async () => {
    let looks = 0;
    const watcher = new KeyWatcher(() => {
      looks += 1;
      return Promise.reject(new Error("no database"));
    });
    await watcher.changed(names[0] as KeyName, 120);
    const looksThen = looks;
    await watcher.changed(names[1] as KeyName, 120);
    assert.ok(looksThen >= 1 && looks > looksThen);
    assert.deepEqual(Reflect.get(watcher, "waiting"), new Map());
  });
});
