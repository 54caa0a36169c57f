import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { history, type OpFields, op, sentencesOf } from "../testing/make-history";
import { checkFencingOrder } from "./fencing-order";

const grant = (grantedNs: number, fencingToken: number | string, fields: OpFields = {}) =>
  op({ grantedNs, releasedNs: grantedNs + 1, fencingToken, ...fields });
const check = (...ops: ReturnType<typeof op>[]) => checkFencingOrder(history({ ops }));

describe("checkFencingOrder", () => {
  it("names the grant with the older token and the earlier grant", () => {
    const found = check(grant(1, 8), grant(5, 7, { node: "node-2" }), grant(9, 9));
    assert.deepEqual(sentencesOf(found), ["node-2 received fencing token 7 after node-1 had received 8."]);
    assert.equal(found.findings[0]?.atNs, "5");
  });

  it("finds a token granted twice, on one host or two", () => {
    assert.equal(check(grant(1, 8), grant(5, 8)).count, 1);
    const [sentence] = sentencesOf(check(grant(1, 8, { host: "a" }), grant(0, 8, { host: "b", node: "node-2" })));
    assert.equal(sentence, "node-1 and node-2 both received fencing token 8.");
  });

  it("takes the token of a shared hold from any of its operations", () => {
    const bare = (grantedNs: number) => op({ grantedNs, releasedNs: 4, holderId: "x" });
    assert.equal(check(bare(1), grant(2, 8, { holderId: "x" }), grant(6, 7)).count, 1);
    assert.equal(check(grant(1, 8, { holderId: "x" }), bare(2), grant(6, 7)).count, 1);
  });

  it("does not order grants of two hosts or grants at the same instant", () => {
    assert.equal(check(grant(1, 8, { host: "a" }), grant(5, 7, { host: "b" })).count, 0);
    assert.equal(check(grant(1, 8), grant(1, 7)).count, 0);
  });

  it("allows one token within a shared hold and ignores holds without a token", () => {
    assert.equal(check(grant(1, 8, { holderId: "x" }), grant(2, 8, { holderId: "x" })).count, 0);
    assert.equal(check(grant(1, 8), op({ grantedNs: 3 }), grant(5, 9)).count, 0);
  });

  it("compares tokens above 2^53 exactly", () => {
    assert.equal(check(grant(1, "9007199254740993"), grant(5, "9007199254740992")).count, 1);
    assert.equal(check(grant(1, "9007199254740992"), grant(5, "9007199254740993")).count, 0);
  });

  it("counts every grant whose token is not above all earlier tokens", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 20 }), (tokens) => {
        const ops = tokens.map((token, index) => grant(index * 10, token));
        const wrong = tokens.filter((token, index) => tokens.slice(0, index).some((earlier) => earlier >= token));
        assert.equal(check(...ops).count, wrong.length);
      }),
    );
  });
});
