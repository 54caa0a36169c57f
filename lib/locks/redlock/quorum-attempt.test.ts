import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { QuorumVote } from "../errors";
import { countVotes, quorumOf } from "./quorum-attempt";

const LETTERS = { g: "granted", h: "held", u: "unreachable", l: "late" } as const;

/** "ggh.." means two granted, one held and two open votes. */
function votes(letters: string): (QuorumVote | null)[] {
  return [...letters].map((letter) =>
    letter === "." ? null : { server: letter, vote: LETTERS[letter as keyof typeof LETTERS] },
  );
}

describe("quorum", () => {
  it("is more than half", () => {
    assert.deepEqual([1, 3, 5, 7].map(quorumOf), [1, 2, 3, 4]);
  });

  it("makes any two majorities share a server", () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 99 }), (servers) => 2 * quorumOf(servers) > servers));
  });
});

describe("counting votes", () => {
  for (const [letters, result] of [
    [".....", "open"],
    ["gg...", "open"],
    ["ggg..", "granted"],
    ["uuggg", "granted"],
    ["ggguu", "granted"],
    ["hh...", "open"],
    ["hhh..", "held"],
    ["gghh.", "open"],
    ["gghhh", "held"],
    // A split vote with one unreachable server is contention: the reachable servers could have formed a majority.
    ["gghhu", "held"],
    ["uuhhh", "held"],
    ["ulghh", "held"],
    ["uuu..", "open"],
    ["uuugg", "unreachable"],
    ["ulugh", "unreachable"],
    ["lllll", "unreachable"],
  ] as const) {
    it(`counts ${letters} as ${result}`, () => assert.equal(countVotes(votes(letters)), result));
  }

  it("never changes a decision when late votes arrive", () => {
    const letter = fc.constantFrom("g", "h", "u", "l");
    fc.assert(
      fc.property(fc.array(letter, { minLength: 5, maxLength: 5 }), fc.nat({ max: 5 }), (letters, open) => {
        const partial = countVotes(votes(letters.map((vote, index) => (index < open ? "." : vote)).join("")));
        const complete = countVotes(votes(letters.join("")));
        assert.notEqual(complete, "open");
        if (partial !== "open") assert.equal(partial, complete);
      }),
    );
  });
});
