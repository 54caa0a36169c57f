import assert from "node:assert/strict";
import type { LockCase } from "../case";

export const releaseAfterThrow: LockCase = {
  name: () => "is free again after a section that throws",
  async run(subject) {
    const request = subject.fresh();
    const failure = new Error("out of paper");
    await assert.rejects(
      subject.lock.runGuarded(request, () => Promise.reject(failure)),
      failure,
    );
    assert.equal((await subject.tryNow(request)).status, "completed", "the hold has outlived its section");
  },
};

export const releaseAfterAbort: LockCase = {
  name: () => "is freed although the caller's signal aborts during the section",
  async run(subject) {
    const request = subject.fresh();
    const caller = new AbortController();
    const aborting = { ...request, signal: caller.signal };
    const outcome = await subject.lock.runGuarded(aborting, async () => caller.abort());
    assert.ok(outcome.status === "completed" && outcome.lease !== "lost");
    assert.equal((await subject.tryNow(request)).status, "completed", "the hold has outlived its section");
  },
};
