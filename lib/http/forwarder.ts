import * as http from "node:http";
import * as https from "node:https";
import { type WholeAnswer, withCode } from "./answer";

/**
 * Sends requests to the store nodes in turn, and no request twice: the next node is tried only if no connection was made, or
 * if the node answers `shutting_down`, which it does before it reads the request. Any later failure has an unknown outcome.
 */

export interface StoreAddress {
  readonly name: string;
  readonly url: string;
}

export interface ForwardedRequest {
  readonly method: string;
  readonly path: string;
  /** Null: the request had no such header. */
  readonly headers: Readonly<Record<string, string | null>>;
  readonly body: string;
}

export interface ForwarderOptions {
  readonly nodes: readonly StoreAddress[];
  /** More requests than this at once are rejected. */
  readonly maxInFlight: number;
  /** How long a node may take to accept a connection. */
  readonly connectLimitMs: number;
  /** How long a request may take in total. */
  readonly limitMs: number;
}

/** No node answered. */
export interface NoAnswer {
  readonly reason: "overloaded" | "backend_unavailable" | "outcome_unknown";
  /** Each node that was tried, and why it did not answer. */
  readonly tried: readonly string[];
}

interface Failure {
  readonly why: string;
  /** True if the node may have received the request. */
  readonly mayHaveArrived: boolean;
}

const MAX_SOCKETS_PER_NODE = 256;
/** Far below the nodes' keep-alive timeout, so that no request uses a connection that the node is closing. */
const IDLE_SOCKET_MS = 10_000;
/** Far above any answer of a forwarded route. */
const MAX_ANSWER_BYTES = 262_144;

/** Each connection has its own. */
const HOP_BY_HOP = new Set(["connection", "content-length", "date", "keep-alive", "transfer-encoding"]);

export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #agents = new Map<string, http.Agent>();
  #inFlight = 0;
  #turn = 0;

  constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  async send(request: ForwardedRequest): Promise<WholeAnswer | NoAnswer> {
    if (this.#inFlight >= this.#options.maxInFlight) return { reason: "overloaded", tried: [] };
    this.#inFlight += 1;
    try {
      return await this.#sendInTurn(request);
    } finally {
      this.#inFlight -= 1;
    }
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  async #sendInTurn(request: ForwardedRequest): Promise<WholeAnswer | NoAnswer> {
    const { nodes } = this.#options;
    const first = this.#turn;
    this.#turn = (first + 1) % nodes.length;
    const deadlineMs = performance.now() + this.#options.limitMs;
    const tried: string[] = [];
    for (const node of [...nodes.slice(first), ...nodes.slice(0, first)]) {
      const answer = await this.#sendTo(node, request, deadlineMs);
      if ("status" in answer) {
        if (answer.code !== "shutting_down") return answer;
        tried.push(`${node.name}: it is shutting down`);
        continue;
      }
      tried.push(`${node.name}: ${answer.why}`);
      if (answer.mayHaveArrived) return { reason: "outcome_unknown", tried };
    }
    return { reason: "backend_unavailable", tried };
  }

  #sendTo(node: StoreAddress, request: ForwardedRequest, deadlineMs: number): Promise<WholeAnswer | Failure> {
    const url = new URL(node.url);
    const { connectLimitMs, limitMs } = this.#options;
    return new Promise((resolve) => {
      let mayHaveArrived = false;
      const outgoing = (url.protocol === "https:" ? https : http).request({
        ...{ protocol: url.protocol, hostname: url.hostname.replace(/^\[|\]$/g, ""), port: url.port },
        ...{ path: request.path, method: request.method, headers: headersOf(request) },
        agent: this.#agentFor(url),
      });
      const giveUp = (why: string) => outgoing.destroy(new Error(why));
      const leftMs = Math.max(0, deadlineMs - performance.now());
      const limit = setTimeout(giveUp, leftMs, `it did not respond within ${limitMs} ms`);
      const end = (result: WholeAnswer | Failure) => {
        clearTimeout(limit);
        resolve(result);
      };
      // Prefers the code: messages contain internal addresses.
      const fail = ({ code, message }: NodeJS.ErrnoException) => end({ why: code ?? message, mayHaveArrived });
      outgoing.once("socket", (socket) => {
        if (!socket.connecting) {
          mayHaveArrived = true;
          return;
        }
        const late = setTimeout(giveUp, connectLimitMs, `it did not accept a connection within ${connectLimitMs} ms`);
        socket.once("connect", () => {
          mayHaveArrived = true;
        });
        for (const event of ["connect", "close"]) socket.once(event, () => clearTimeout(late));
      });
      outgoing.on("error", fail);
      outgoing.once("response", (incoming) => readAnswer(incoming).then(end, fail));
      outgoing.end(request.body);
    });
  }

  #agentFor(url: URL): http.Agent {
    const known = this.#agents.get(url.protocol);
    if (known) return known;
    const { Agent } = url.protocol === "https:" ? https : http;
    const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS_PER_NODE, timeout: IDLE_SOCKET_MS });
    this.#agents.set(url.protocol, agent);
    return agent;
  }
}

function headersOf({ headers, body }: ForwardedRequest): Record<string, string | number> {
  const present = Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  return { ...Object.fromEntries(present), "content-length": Buffer.byteLength(body) };
}

async function readAnswer(incoming: http.IncomingMessage): Promise<WholeAnswer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new Error("its answer is too long");
    chunks.push(chunk);
  }
  const headers = Object.entries(incoming.headers).flatMap(([name, value]) =>
    typeof value === "string" && !HOP_BY_HOP.has(name) ? [[name, value] as const] : [],
  );
  const { statusCode: status } = incoming;
  if (status === undefined) throw new Error("its answer has no status");
  return withCode({ status, headers: Object.fromEntries(headers), body: Buffer.concat(chunks).toString("utf8") });
}
