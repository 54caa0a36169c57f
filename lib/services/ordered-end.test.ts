import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { forgetOrderedEnds, noteOrderedEnd, takeOrderedEnd } from "./ordered-end";

describe("the note of an ordered end", () => {
  const folder = mkdtempSync(join(tmpdir(), "ordered-ends-"));
  const stateFile = join(folder, "state.json");
  after(() => rmSync(folder, { recursive: true }));

  it("counts once, for the process that it names", () => {
    assert.equal(takeOrderedEnd(71, stateFile), false);
    noteOrderedEnd(71, stateFile);
    assert.deepEqual([takeOrderedEnd(72, stateFile), takeOrderedEnd(71, stateFile)], [false, true]);
    assert.equal(takeOrderedEnd(71, stateFile), false);
  });

  it("does not outlive the lab", () => {
    noteOrderedEnd(71, stateFile);
    forgetOrderedEnds(stateFile);
    assert.equal(takeOrderedEnd(71, stateFile), false);
  });

  it("needs a supervisor", () => {
    assert.doesNotThrow(() => noteOrderedEnd(71, ""));
  });
});
