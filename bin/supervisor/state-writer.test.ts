import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { instancePaths } from "./paths";
import type { LabState } from "./state";
import { StateWriter } from "./state-writer";

describe("the writer of a lab's state", () => {
  it("survives a full disk, says so once, and writes the last state when there is space", async () => {
    const notes: string[] = [];
    const written: string[] = [];
    let isFull = true;
    let tries = 0;
    const recovered = new Promise<void>((resolve) => {
      const write = (_paths: unknown, { status }: LabState) => {
        tries += 1;
        if (tries === 4) isFull = false;
        if (isFull) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
        written.push(status);
        resolve();
      };
      const onNote = (sentence: string) => void notes.push(sentence);
      const writer = new StateWriter({ paths: instancePaths("full"), onNote, write, retryMs: 1 });
      writer.write({ status: "starting" } as LabState);
      writer.write({ status: "ready" } as LabState);
    });
    // The writer's timer alone does not keep the process alive.
    const keepAlive = setInterval(() => undefined, 50);
    await recovered;
    clearInterval(keepAlive);
    assert.deepEqual(written, ["ready"]);
    assert.equal(notes.length, 2, notes.join(" | "));
    assert.match(notes[0] ?? "", /no space left/);
    assert.match(notes[1] ?? "", /can be written again/);
  });
});
