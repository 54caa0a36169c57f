import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { clockReading, hasTimeTooFar, readOperations, timesOutOfOrder } from "./operation";
import { type OpFields, op } from "./testing/make-history";

const read = (fields: OpFields) => readOperations([op(fields)])[0] ?? assert.fail();

describe("readOperations", () => {
  it("keeps large clock readings exact in both directions", () => {
    const ns = fc.bigInt(0n, 2n ** 53n - 1n);
    fc.assert(
      fc.property(fc.bigInt(0n, 9n * 10n ** 18n), ns, (first, distance) => {
        const last = (first + distance).toString();
        const operation = read({ invokedNs: first.toString(), answeredNs: last });
        assert.equal(operation.answeredNs, Number(distance));
        assert.equal(clockReading(operation, operation.answeredNs), last);
      }),
    );
  });

  it("uses one clock per host", () => {
    const lines = [op({ host: "a", invokedNs: 5 }), op({ host: "b", invokedNs: 700 }), op({ host: "a", invokedNs: 9 })];
    const [first, other, second] = readOperations(lines);
    assert.deepEqual([first?.invokedNs, other?.invokedNs, second?.invokedNs], [0, 0, 4]);
    assert.equal(first?.clock, second?.clock);
    assert.equal(clockReading(other ?? assert.fail(), undefined), null);
  });
});

describe("timesOutOfOrder", () => {
  it("names the two steps in the wrong order", () => {
    assert.equal(timesOutOfOrder(read({ invokedNs: 1, waitNs: 1, grantedNs: 2, releasedNs: 2, answeredNs: 3 })), null);
    assert.deepEqual(timesOutOfOrder(read({ grantedNs: 5, releasedNs: 4 })), ["grantedNs", "releasedNs"]);
    assert.deepEqual(timesOutOfOrder(read({ invokedNs: 5, answeredNs: 4 })), ["invokedNs", "answeredNs"]);
  });

  it("allows the rejected write of an earlier attempt before the last read", () => {
    const retried = { writeNs: 4, readNs: 6, answeredNs: 9 };
    assert.equal(timesOutOfOrder(read({ ...retried, writeAccepted: false })), null);
    assert.deepEqual(timesOutOfOrder(read({ ...retried, writeAccepted: true })), ["readNs", "writeNs"]);
  });

  it("allows a commit after the answer if the outcome is unknown", () => {
    const late = { writeNs: 1, committedNs: 9, answeredNs: 5 };
    assert.equal(timesOutOfOrder(read({ ...late, outcome: "unknown" })), null);
    assert.deepEqual(timesOutOfOrder(read(late)), ["committedNs", "answeredNs"]);
  });
});

describe("hasTimeTooFar", () => {
  it("finds a time that a number cannot hold exactly", () => {
    assert.equal(hasTimeTooFar(read({ answeredNs: (2n ** 53n - 1n).toString() })), false);
    assert.equal(hasTimeTooFar(read({ answeredNs: (2n ** 53n).toString() })), true);
  });
});
