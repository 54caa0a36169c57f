import { LockError, type QuorumVote } from "../errors";
import type { HandleContext } from "../lease-backend";
import { releaseScript, renewScript } from "../redis/owner-scripts";
import type { RedisCommands } from "../redis/redis-port";
import { type RedisScript, runScript } from "../redis/script";
import { type Settled, withDeadline } from "../with-deadline";

/** One answer per server, in server order; null while a server has not answered. */
type Answers<T> = readonly (T | null)[];

export type QuorumResult = "granted" | "held" | "unreachable" | "open";

/** What a server answered to a command that only the holder may run: done, not the holder, or no answer. */
type OwnerAnswer = "yes" | "no" | "none";

export interface QuorumAttemptOptions {
  readonly strategyId: string;
  readonly servers: readonly RedisCommands[];
  /** The value the servers store. Unique per attempt, so undoing one attempt cannot release a later one. */
  readonly value: string;
  /** Maximum wait for the answer of one server. */
  readonly nodeLimitMs: number;
}

/** One attempt to acquire a lock on a majority of servers. Remembers which servers may have stored it. */
export class QuorumAttempt {
  readonly #context: HandleContext;
  readonly #options: QuorumAttemptOptions;
  /** False for each server that reported that it does not store the lock. */
  readonly #mayHold: boolean[];

  constructor(context: HandleContext, options: QuorumAttemptOptions) {
    this.#context = context;
    this.#options = options;
    this.#mayHold = options.servers.map(() => true);
  }

  /**
   * Asks all servers at once and returns as soon as the votes decide. If a slow server grants later, `release` frees it:
   * its request follows on the same connection.
   * @throws {LockError} `quorum_failed` if a majority did not answer
   */
  async acquire(): Promise<"granted" | "held"> {
    const votes = await this.#askAll<QuorumVote>({
      ask: (server, signal) => this.#requestVote(server, signal),
      isDecided: (answers) => countVotes(answers) !== "open",
    });
    const result = countVotes(votes);
    if (result === "granted" || result === "held") return result;
    throw this.#quorumFailed(votes);
  }

  /** @throws {LockError} `quorum_failed` if too few servers answered to decide */
  async renew(): Promise<"renewed" | "lost"> {
    const answers = await this.#askOwner(renewScript, [this.#context.ttlMs]);
    const result = countOwnerAnswers(answers);
    if (result === "unknown") throw this.#quorumFailed(answers.map(asVote));
    return result === "yes" ? "renewed" : "lost";
  }

  /** Releases the lock on every server that may store it. @returns `not_held` if a majority had already lost it */
  async release(): Promise<"released" | "not_held"> {
    return countOwnerAnswers(await this.#askOwner(releaseScript, [])) === "no" ? "not_held" : "released";
  }

  async #requestVote(server: number, signal: AbortSignal): Promise<QuorumVote> {
    const { resource, ttlMs } = this.#context;
    const { servers, value } = this.#options;
    const command = servers[server]?.call("SET", resource, value, "NX", "PX", ttlMs);
    // Record the reply even if it arrives after the votes have decided.
    const recorded = command?.then((reply) => {
      if (reply !== "OK") this.#mayHold[server] = false;
      return reply;
    });
    const reply = await this.#bounded(recorded, signal);
    const name = serverName(server);
    if (reply.status === "error") return { server: name, vote: "unreachable", reason: messageOf(reply.error) };
    if (reply.status !== "value") return { server: name, vote: "late", reason: this.#lateReason() };
    return { server: name, vote: reply.value === "OK" ? "granted" : "held" };
  }

  /** Runs an owner script on every server that may store the lock. The other servers count as "no". */
  #askOwner(script: RedisScript, values: number[]): Promise<Answers<OwnerAnswer>> {
    const { servers, value } = this.#options;
    const call = { keys: [this.#context.resource], values: [value, ...values] };
    return this.#askAll<OwnerAnswer>({
      isDecided: (answers) => countOwnerAnswers(answers) !== "unknown",
      ask: async (server, signal) => {
        const client = servers[server];
        if (!client || !this.#mayHold[server]) return "no";
        const reply = await this.#bounded(runScript(client, script, call), signal);
        if (reply.status !== "value") return "none";
        return reply.value === 1 ? "yes" : "no";
      },
    });
  }

  /**
   * Asks all servers at once. Resolves when their answers decide or all have answered, so a slow server costs no time.
   * `ask` must not reject; its signal aborts when the answer no longer matters.
   */
  #askAll<T>(how: {
    ask(server: number, signal: AbortSignal): Promise<T>;
    isDecided(answers: Answers<T>): boolean;
  }): Promise<Answers<T>> {
    const answers: (T | null)[] = this.#options.servers.map(() => null);
    const decided = new AbortController();
    return new Promise((resolve) => {
      answers.forEach(async (_, server) => {
        const answer = await how.ask(server, decided.signal);
        if (decided.signal.aborted) return;
        answers[server] = answer;
        if (answers.includes(null) && !how.isDecided(answers)) return;
        decided.abort();
        resolve(answers);
      });
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
    const failed = known.filter(({ vote }) => vote === "unreachable" || vote === "late");
    const names = failed.map(({ server, reason }) => `${server} (${reason ?? this.#lateReason()})`).join(", ");
    const message = `${failed.length} of ${known.length} servers did not answer, ${quorumOf(known.length)} are needed: ${names}`;
    const { resource } = this.#context;
    const { strategyId } = this.#options;
    return new LockError({ code: "quorum_failed", strategyId, resource, message, isDefinite: true, votes: known });
  }
}

/** floor(n/2)+1: any two majorities share a server. */
export function quorumOf(servers: number): number {
  return Math.floor(servers / 2) + 1;
}

/**
 * What the votes so far decide. `held`: other holders have so many servers that no majority is left. `unreachable`: too
 * few servers answered for a majority. `open`: wait for the missing votes (null).
 */
export function countVotes(votes: readonly (QuorumVote | null)[]): QuorumResult {
  const quorum = quorumOf(votes.length);
  const count = (...kinds: QuorumVote["vote"][]) => votes.filter((vote) => vote && kinds.includes(vote.vote)).length;
  if (count("granted") >= quorum) return "granted";
  if (votes.length - count("held") < quorum) return "held";
  if (votes.includes(null)) return "open";
  return votes.length - count("unreachable", "late") < quorum ? "unreachable" : "held";
}

/** `yes`: a majority answered yes. `no`: a majority of yes is impossible. `unknown`: the missing answers would decide. */
function countOwnerAnswers(answers: Answers<OwnerAnswer>): "yes" | "no" | "unknown" {
  const quorum = quorumOf(answers.length);
  if (answers.filter((answer) => answer === "yes").length >= quorum) return "yes";
  return answers.filter((answer) => answer !== "no").length < quorum ? "no" : "unknown";
}

function asVote(answer: OwnerAnswer | null, server: number): QuorumVote {
  const vote = answer === "yes" ? "granted" : answer === "no" ? "held" : "late";
  return { server: serverName(server), vote };
}

/** Numbered by position in REDLOCK_URLS, so an operator can identify the server. */
function serverName(server: number): string {
  return `redlock-${server + 1}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
