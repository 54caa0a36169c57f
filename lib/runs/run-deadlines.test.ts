import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { log } from "../services/log";
import { RunDeadlines } from "./run-deadlines";

const LIMIT_MS = 5_000;

describe("RunDeadlines", () => {
  beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });

  /** A monotonic clock that moves with the fake timers. */
  function start() {
    let nowMs = 0;
    mock.method(log(), "warn", () => {});
    mock.method(performance, "now", () => nowMs);
    const deadlines = new RunDeadlines();
    const calls: string[] = [];
    const failing = (name: string) => async () => {
      calls.push(name);
      throw new Error("the database system is starting up");
    };
    const advance = async (ms: number) => {
      nowMs += ms;
      mock.timers.tick(ms);
      // The action's rejection is handled in a later microtask.
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    };
    return { deadlines, calls, failing, advance };
  }

  it("repeats a failed end every second, and takes the deadline's action when it has passed", async () => {
    const { deadlines, calls, failing, advance } = start();
    deadlines.set("run-1", LIMIT_MS, failing("fail"));
    deadlines.retry("run-1", failing("finish"), new Error("connection refused"));
    assert.equal(deadlines.isRetrying("run-1"), true);
    for (let second = 0; second < 7; second += 1) await advance(1_000);
    assert.deepEqual(calls, ["finish", "finish", "finish", "finish", "finish", "fail", "fail"]);
  });

  it("stops repeating when the run has ended, and when the process stops", async () => {
    const { deadlines, calls, failing, advance } = start();
    deadlines.retry("run-1", failing("finish"), new Error("connection refused"));
    deadlines.clear("run-1");
    await advance(1_000);
    deadlines.retry("run-2", failing("finish"), new Error("connection refused"));
    deadlines.stop();
    deadlines.retry("run-2", failing("finish"), new Error("connection refused"));
    await advance(1_000);
    assert.deepEqual([calls, deadlines.isRetrying("run-1")], [[], false]);
  });
});
