import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OrderedOutput } from "./ordered-output";

describe("OrderedOutput", () => {
  it("prints the first program as it goes and the others in order, each without gaps", () => {
    const printed: string[] = [];
    const output = new OrderedOutput(3, (text) => printed.push(String(text)));
    output.write(2, "c1");
    output.write(0, "a1");
    output.write(1, "b1");
    assert.deepEqual(printed, ["a1"]);
    output.end(2);
    output.end(0);
    assert.deepEqual(printed, ["a1", "b1"]);
    output.write(1, "b2");
    output.end(1);
    assert.deepEqual(printed, ["a1", "b1", "b2", "c1"]);
  });
});
