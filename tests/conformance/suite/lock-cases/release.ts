import assert from "node:assert/strict";
import type { LockCase } from "../case";

export const releaseAfterThrow: LockCase = {
  name: () => "is free again after a section that throws",
  async run(tested) {
    const request = tested.fresh();
    const failure = new Error("out of paper");
    await assert.rejects(
      tested.lock.runGuarded(request, () => Promise.reject(failure)),
      failure,
    );
    assert.equal((await tested.tryNow(request)).status, "completed", "the lock is still held after its section");
  },
};

export const releaseAfterAbort: LockCase = {
  name: () => "is released if the caller's signal aborts during the section",
  async run(tested) {
    const request = tested.fresh();
    const caller = new AbortController();
    const aborting = { ...request, signal: caller.signal };
    const outcome = await tested.lock.runGuarded(aborting, async () => caller.abort());
    assert.ok(outcome.status === "completed" && outcome.lease !== "lost");
    assert.equal((await tested.tryNow(request)).status, "completed", "the lock is still held after its section");
  },
};
