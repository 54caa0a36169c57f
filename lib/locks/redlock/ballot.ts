import { LockError, type QuorumVote } from "../errors";
import type { HandleContext } from "../lease-backend";
import { releaseScript, renewScript } from "../redis/owner-scripts";
import type { RedisCommands } from "../redis/redis-port";
import { type RedisScript, runScript } from "../redis/script";
import { type Settled, withDeadline } from "../with-deadline";
import { type Answers, pollServers } from "./poll-servers";
import { judgeVotes, quorumOf } from "./quorum";

export interface BallotOptions {
  readonly strategyId: string;
  readonly servers: readonly RedisCommands[];
  /** What the servers keep; different for each try, so that taking one back cannot hit the next. */
  readonly value: string;
  /** Longest wait for one server's answer. */
  readonly nodeLimitMs: number;
}

/** Whether a server did what only the holder may: it did, it says the hold is not there, or it said nothing. */
type OwnedAnswer = "yes" | "no" | "none";

interface Question {
  readonly server: number;
  readonly signal: AbortSignal;
}

/** One try at a majority: the votes, and afterwards the servers where something of it may be. */
export class Ballot {
  readonly #context: HandleContext;
  readonly #options: BallotOptions;
  /** All servers but those that said they keep nothing of ours. */
  readonly #mayHold: boolean[];

  constructor(context: HandleContext, options: BallotOptions) {
    this.#context = context;
    this.#options = options;
    this.#mayHold = options.servers.map(() => true);
  }

  /**
   * Asks all servers at once and stops listening when the votes decide. A straggler that grants later is freed with
   * the others by `takeBack`, whose request follows on the same connection.
   * @throws {LockError} `quorum_failed` when a majority gave no answer
   */
  async hold(): Promise<"granted" | "held"> {
    const votes = await pollServers<QuorumVote>({
      servers: this.#options.servers.length,
      ask: (server, signal) => this.#askForVote({ server, signal }),
      isDecided: (answers) => judgeVotes(answers) !== "open",
    });
    const verdict = judgeVotes(votes);
    if (verdict === "granted" || verdict === "held") return verdict;
    throw this.#quorumFailed(votes);
  }

  /** @throws {LockError} `quorum_failed` when too few servers answer to tell */
  async renew(): Promise<"renewed" | "lost"> {
    const answers = await this.#askOwned(renewScript, [this.#context.ttlMs]);
    const verdict = judgeOwned(answers);
    if (verdict === "unknown") throw this.#quorumFailed(answers.map(asVote));
    return verdict === "yes" ? "renewed" : "lost";
  }

  /** Frees every server that may keep something of this try. @returns `not_held` when a majority had lost it already */
  async takeBack(): Promise<"released" | "not_held"> {
    return judgeOwned(await this.#askOwned(releaseScript, [])) === "no" ? "not_held" : "released";
  }

  async #askForVote({ server, signal }: Question): Promise<QuorumVote> {
    const { resource, ttlMs } = this.#context;
    const { servers, value } = this.#options;
    const command = servers[server]?.call("SET", resource, value, "NX", "PX", ttlMs);
    // Noted when it comes, even if the votes have decided by then.
    const noted = command?.then((reply) => {
      if (reply !== "OK") this.#mayHold[server] = false;
      return reply;
    });
    const reply = await this.#bounded(noted, signal);
    const name = serverName(server);
    if (reply.status === "error") return { server: name, vote: "unreachable", reason: messageOf(reply.error) };
    if (reply.status !== "value") return { server: name, vote: "late", reason: this.#lateReason() };
    return { server: name, vote: reply.value === "OK" ? "granted" : "held" };
  }

  /** Runs a holder's script wherever something of ours may be. Servers known to keep nothing say no. */
  #askOwned(script: RedisScript, values: number[]): Promise<Answers<OwnedAnswer>> {
    const { servers, value } = this.#options;
    const call = { keys: [this.#context.resource], values: [value, ...values] };
    return pollServers<OwnedAnswer>({
      servers: servers.length,
      isDecided: (answers) => judgeOwned(answers) !== "unknown",
      ask: async (server, signal) => {
        const client = servers[server];
        if (!client || !this.#mayHold[server]) return "no";
        const reply = await this.#bounded(runScript(client, script, call), signal);
        if (reply.status !== "value") return "none";
        return reply.value === 1 ? "yes" : "no";
      },
    });
  }

  #bounded(command: Promise<unknown> = Promise.resolve(null), signal: AbortSignal): Promise<Settled<unknown>> {
    return withDeadline(this.#context.clock, command, { limitMs: this.#options.nodeLimitMs, signal });
  }

  #lateReason(): string {
    return `no answer within ${Math.round(this.#options.nodeLimitMs)} ms`;
  }

  #quorumFailed(votes: readonly (QuorumVote | null)[]): LockError {
    const known = votes.map((vote, server) => vote ?? asVote("none", server));
    const lost = known.filter(({ vote }) => vote === "unreachable" || vote === "late");
    const names = lost.map(({ server, reason }) => `${server} (${reason ?? this.#lateReason()})`).join(", ");
    const message = `${lost.length} of ${known.length} servers gave no answer, ${quorumOf(known.length)} are needed: ${names}`;
    const { resource } = this.#context;
    const { strategyId } = this.#options;
    return new LockError({ code: "quorum_failed", strategyId, resource, message, isDefinite: true, votes: known });
  }
}

/** `yes`: a majority did it. `no`: none is left that could. `unknown`: those that said nothing would decide. */
function judgeOwned(answers: Answers<OwnedAnswer>): "yes" | "no" | "unknown" {
  const quorum = quorumOf(answers.length);
  if (answers.filter((answer) => answer === "yes").length >= quorum) return "yes";
  return answers.filter((answer) => answer !== "no").length < quorum ? "no" : "unknown";
}

function asVote(answer: OwnedAnswer | null, server: number): QuorumVote {
  const vote = answer === "yes" ? "granted" : answer === "no" ? "held" : "late";
  return { server: serverName(server), vote };
}

/** By position: what an operator finds in REDLOCK_URLS. */
function serverName(server: number): string {
  return `redlock-${server + 1}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
