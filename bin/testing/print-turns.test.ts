import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PrintTurns } from "./print-turns";

function startPrinting() {
  const printed: string[] = [];
  return { printed, turns: new PrintTurns({ write: (text) => printed.push(text) }) };
}

describe("PrintTurns", () => {
  it("prints the first stage at once, and keeps the text of the second one until the first has ended", () => {
    const { printed, turns } = startPrinting();
    const [first, second] = [turns.begin(), turns.begin()];
    second.output.write("second 1\n");
    first.output.write("first 1\n");
    assert.deepEqual(printed, ["first 1\n"]);
    first.output.write("first 2\n");
    first.end();
    second.output.write("second 2\n");
    assert.deepEqual(printed, ["first 1\n", "first 2\n", "second 1\n", "second 2\n"]);
  });

  it("prints a stage that ended before its turn, and then the next one", () => {
    const { printed, turns } = startPrinting();
    const [first, second, third] = [turns.begin(), turns.begin(), turns.begin()];
    second.output.write("second\n");
    second.end();
    third.output.write("third 1\n");
    first.output.write("first\n");
    first.end();
    third.output.write("third 2\n");
    assert.deepEqual(printed, ["first\n", "second\n", "third 1\n", "third 2\n"]);
  });

  it("prints a stage at once if all before it have ended", () => {
    const { printed, turns } = startPrinting();
    turns.begin().end();
    turns.begin().output.write("second\n");
    assert.deepEqual(printed, ["second\n"]);
  });
});
