import { LockError, type QuorumVote } from "../errors";
import type { Contest } from "../lease-backend";
import { releaseScript, renewScript } from "../redis/owner-scripts";
import type { RedisCommands } from "../redis/redis-port";
import { type RedisScript, runScript } from "../redis/script";
import { type Settled, settleWithin } from "../settle-within";
import { judgeVotes, quorumOf } from "./quorum";

export interface BallotOptions {
  readonly strategyId: string;
  readonly servers: readonly RedisCommands[];
  /** What the servers keep; different for each try, so that taking one back cannot hit the next. */
  readonly value: string;
  /** Longest wait for one server's answer. */
  readonly nodeLimitMs: number;
}

type OwnedAnswer = "yes" | "no" | "none";

/** One try at a majority: the votes, and afterwards the servers where something of it may be. */
export class Ballot {
  readonly #contest: Contest;
  readonly #options: BallotOptions;
  /** All servers but those that said they keep nothing of ours. */
  readonly #mayHold: boolean[];

  constructor(contest: Contest, options: BallotOptions) {
    this.#contest = contest;
    this.#options = options;
    this.#mayHold = options.servers.map(() => true);
  }

  /**
   * Asks all servers at once; resolves as soon as the votes decide. A straggler that grants later is freed with the
   * others by `takeBack`.
   * @throws {LockError} `quorum_failed` when a majority gave no answer
   */
  async hold(): Promise<"granted" | "held"> {
    const votes = await this.#collectVotes();
    const verdict = judgeVotes(votes);
    if (verdict === "granted" || verdict === "held") return verdict;
    throw this.#quorumFailed(votes);
  }

  /** @throws {LockError} `quorum_failed` when too few servers answer to tell */
  async renew(): Promise<"renewed" | "lost"> {
    const answers = await this.#askOwned(renewScript, [this.#contest.ttlMs]);
    const quorum = quorumOf(answers.length);
    if (count(answers, "yes") >= quorum) return "renewed";
    if (count(answers, "yes") + count(answers, "none") < quorum) return "lost";
    throw this.#quorumFailed(answers.map(asVote));
  }

  /** Frees every server that may keep something of this try. @returns `not_held` when a majority had lost it already */
  async takeBack(): Promise<"released" | "not_held"> {
    const answers = await this.#askOwned(releaseScript, []);
    const isGone = count(answers, "yes") + count(answers, "none") < quorumOf(answers.length);
    return isGone ? "not_held" : "released";
  }

  #collectVotes(): Promise<readonly (QuorumVote | null)[]> {
    const { servers } = this.#options;
    const votes: (QuorumVote | null)[] = servers.map(() => null);
    return new Promise((resolve) => {
      servers.forEach(async (client, server) => {
        votes[server] = await this.#askForVote(client, server);
        if (judgeVotes(votes) !== "open") resolve([...votes]);
      });
    });
  }

  async #askForVote(client: RedisCommands, server: number): Promise<QuorumVote> {
    const { resource, ttlMs } = this.#contest;
    const reply = await this.#bounded(client.call("SET", resource, this.#options.value, "NX", "PX", ttlMs));
    const name = serverName(server);
    if (reply.status === "error") return { server: name, vote: "unreachable", reason: messageOf(reply.error) };
    if (reply.status !== "value") return { server: name, vote: "late", reason: this.#lateReason() };
    if (reply.value === "OK") return { server: name, vote: "granted" };
    this.#mayHold[server] = false;
    return { server: name, vote: "held" };
  }

  /** Runs a holder's script wherever something of ours may be. Servers known to keep nothing say no. */
  #askOwned(script: RedisScript, values: number[]): Promise<OwnedAnswer[]> {
    const { servers, value } = this.#options;
    const call = { keys: [this.#contest.resource], values: [value, ...values] };
    return Promise.all(
      servers.map(async (client, server): Promise<OwnedAnswer> => {
        if (!this.#mayHold[server]) return "no";
        const reply = await this.#bounded(runScript(client, script, call));
        if (reply.status !== "value") return "none";
        return reply.value === 1 ? "yes" : "no";
      }),
    );
  }

  #bounded(command: Promise<unknown>): Promise<Settled<unknown>> {
    return settleWithin(this.#contest.clock, command, { limitMs: this.#options.nodeLimitMs });
  }

  #lateReason(): string {
    return `no answer within ${Math.round(this.#options.nodeLimitMs)} ms`;
  }

  #quorumFailed(votes: readonly (QuorumVote | null)[]): LockError {
    const known = votes.map((vote, server) => vote ?? asVote("none", server));
    const lost = known.filter(({ vote }) => vote === "unreachable" || vote === "late");
    const names = lost.map(({ server, reason }) => `${server} (${reason ?? this.#lateReason()})`).join(", ");
    const message = `${lost.length} of ${known.length} servers gave no answer, ${quorumOf(known.length)} are needed: ${names}`;
    const { resource } = this.#contest;
    const { strategyId } = this.#options;
    return new LockError({ code: "quorum_failed", strategyId, resource, message, isDefinite: true, votes: known });
  }
}

function asVote(answer: OwnedAnswer, server: number): QuorumVote {
  const vote = answer === "yes" ? "granted" : answer === "no" ? "held" : "late";
  return { server: serverName(server), vote };
}

/** By position: what an operator finds in REDLOCK_URLS. */
function serverName(server: number): string {
  return `redlock-${server + 1}`;
}

function count(answers: readonly OwnedAnswer[], wanted: OwnedAnswer): number {
  return answers.filter((answer) => answer === wanted).length;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
