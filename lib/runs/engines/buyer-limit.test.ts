import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LabError } from "../lab-error";
import { buyerLimit, MAX_BUYERS, rejectTooManyBuyers } from "./buyer-limit";

describe("the limit of buyers", () => {
  const large = { memoryMb: 1_000_000, openFiles: 1_000_000 };

  it("is the lab's own limit on a large machine", () => {
    for (const engine of ["k6", "builtin"] as const) {
      assert.deepEqual(buyerLimit(engine, large), { maxBuyers: MAX_BUYERS, limitedBy: "the lab's own limit" });
    }
  });

  it("follows from the memory, of which a buyer of k6 needs most", () => {
    const small = { ...large, memoryMb: 2_000 };
    assert.deepEqual(buyerLimit("k6", small), { maxBuyers: 2_000, limitedBy: "2000 MB of memory" });
    assert.equal(buyerLimit("builtin", small).maxBuyers, MAX_BUYERS);
  });

  it("follows from the open files, because each buyer of k6 has a connection", () => {
    const few = { ...large, openFiles: 1_024 };
    const limitedBy = "1024 open files per process (ulimit -n)";
    assert.deepEqual(buyerLimit("k6", few), { maxBuyers: 524, limitedBy });
    assert.deepEqual(buyerLimit("builtin", few), { maxBuyers: 2_620, limitedBy });
  });

  it("is known for this machine", () => {
    const { maxBuyers } = buyerLimit("k6");
    assert.ok(maxBuyers >= 1 && maxBuyers <= MAX_BUYERS, `found ${maxBuyers}`);
  });

  it("rejects a run before it starts, with the field and the reason", () => {
    const few = { ...large, openFiles: 1_024 };
    const reject = (vus: number, rate?: number) => () => rejectTooManyBuyers({ vus, rate }, "k6", few);
    assert.throws(reject(525), (error) => {
      assert.ok(error instanceof LabError);
      assert.deepEqual([error.code, error.details], ["too_many_buyers", { field: "vus", max: 524 }]);
      assert.match(error.message, /^vus: 525 buyers .* the limit is 524, because of 1024 open files/);
      return true;
    });
    assert.doesNotThrow(reject(524));
    assert.doesNotThrow(reject(525, 100), "buyers of an arrival-rate run do not start together");
  });
});
