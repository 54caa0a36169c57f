import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { QuorumVote } from "../errors";
import { judgeVotes, quorumOf } from "./quorum";

const LETTERS = { g: "granted", h: "held", u: "unreachable", l: "late" } as const;

/** "ggh.." = two granted, one held, two open. */
function votes(letters: string): (QuorumVote | null)[] {
  return [...letters].map((letter) =>
    letter === "." ? null : { server: letter, vote: LETTERS[letter as keyof typeof LETTERS] },
  );
}

describe("quorum", () => {
  it("is more than half", () => {
    assert.deepEqual([1, 3, 5, 7].map(quorumOf), [1, 2, 3, 4]);
  });

  it("is such that two majorities share a server", () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 99 }), (servers) => 2 * quorumOf(servers) > servers));
  });
});

describe("judging votes", () => {
  for (const [letters, verdict] of [
    [".....", "open"],
    ["gg...", "open"],
    ["ggg..", "granted"],
    ["uuggg", "granted"],
    ["ggguu", "granted"],
    ["hh...", "open"],
    ["hhh..", "held"],
    ["gghh.", "open"],
    ["gghhh", "held"],
    // A split vote with a server missing: contention, since the reachable ones could have been a majority.
    ["gghhu", "held"],
    ["uuhhh", "held"],
    ["ulghh", "held"],
    ["uuu..", "open"],
    ["uuugg", "unreachable"],
    ["ulugh", "unreachable"],
    ["lllll", "unreachable"],
  ] as const) {
    it(`takes ${letters} for ${verdict}`, () => assert.equal(judgeVotes(votes(letters)), verdict));
  }

  it("never changes a decision when the missing votes come in", () => {
    const letter = fc.constantFrom("g", "h", "u", "l");
    fc.assert(
      fc.property(fc.array(letter, { minLength: 5, maxLength: 5 }), fc.nat({ max: 5 }), (letters, open) => {
        const partial = judgeVotes(votes(letters.map((one, index) => (index < open ? "." : one)).join("")));
        const complete = judgeVotes(votes(letters.join("")));
        assert.notEqual(complete, "open");
        if (partial !== "open") assert.equal(partial, complete);
      }),
    );
  });
});
