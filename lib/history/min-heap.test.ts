import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { MinHeap } from "./min-heap";

describe("MinHeap", () => {
  it("pops the smallest item first", () => {
    // A number is pushed, a null pops.
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat(50)), { maxLength: 60 }), (steps) => {
        const heap = new MinHeap<number>((value) => value);
        let model: number[] = [];
        for (const step of [...steps, ...steps.map(() => null)]) {
          assert.equal(heap.peek(), model[0]);
          if (step === null) assert.equal(heap.pop(), model.shift());
          else {
            heap.push(step);
            model = [...model, step].sort((a, b) => a - b);
          }
        }
      }),
    );
  });
});
