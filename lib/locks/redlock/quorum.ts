import type { QuorumVote } from "../errors";

/** floor(n/2)+1: two majorities always share a server. */
export function quorumOf(servers: number): number {
  return Math.floor(servers / 2) + 1;
}

export type QuorumVerdict = "granted" | "held" | "unreachable" | "open";

/**
 * What the votes so far decide. `held`: others hold enough that no majority is left. `unreachable`: a majority could not
 * be had even without a competitor. `open`: wait for the missing ones (null).
 */
export function judgeVotes(votes: readonly (QuorumVote | null)[]): QuorumVerdict {
  const quorum = quorumOf(votes.length);
  const count = (...kinds: QuorumVote["vote"][]) => votes.filter((vote) => vote && kinds.includes(vote.vote)).length;
  if (count("granted") >= quorum) return "granted";
  if (votes.length - count("held") < quorum) return "held";
  if (votes.includes(null)) return "open";
  return votes.length - count("unreachable", "late") < quorum ? "unreachable" : "held";
}
