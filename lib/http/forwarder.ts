import * as http from "node:http";
import * as https from "node:https";
import type { HotResponse } from "./hot-answer";

/**
 * Sends requests on to store nodes, in turn. None is ever sent twice: the next node is tried only where no connection came
 * about, or where the node says that it is shutting down and takes nothing. Whatever fails later has no known outcome.
 */

export interface StoreAddress {
  readonly name: string;
  readonly url: string;
}

/** One request as it came. */
export interface PassedRequest {
  readonly method: string;
  readonly path: string;
  /** Those that go on; null: the request had none. */
  readonly headers: Readonly<Record<string, string | null>>;
  readonly body: string;
}

export interface ForwarderOptions {
  readonly nodes: readonly StoreAddress[];
  /** Requests on their way at once; more are turned away. */
  readonly maxInside: number;
  /** How long a node may take to accept a connection. */
  readonly connectLimitMs: number;
  /** How long a request may take altogether. */
  readonly limitMs: number;
}

/** No node answered. */
export interface NoAnswer {
  readonly reason: "overloaded" | "backend_unavailable" | "outcome_unknown";
  /** Each node that was tried, with what became of it. */
  readonly tried: readonly string[];
}

interface Lost {
  readonly why: string;
  readonly mayHaveArrived: boolean;
}

const MAX_SOCKETS_PER_NODE = 256;
/** Far shorter than a node keeps an idle connection, so that none is used that the node is closing. */
const IDLE_SOCKET_MS = 10_000;
/** Much more than any answer of a hot route. */
const MAX_ANSWER_BYTES = 262_144;

/** They belong to one connection, or are made anew. */
const NOT_PASSED_BACK = new Set(["connection", "content-length", "date", "keep-alive", "transfer-encoding"]);

export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #agents = new Map<string, http.Agent>();
  #inside = 0;
  #turn = 0;

  constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  async send(request: PassedRequest): Promise<HotResponse | NoAnswer> {
    if (this.#inside >= this.#options.maxInside) return { reason: "overloaded", tried: [] };
    this.#inside += 1;
    try {
      return await this.#sendInTurn(request);
    } finally {
      this.#inside -= 1;
    }
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  async #sendInTurn(request: PassedRequest): Promise<HotResponse | NoAnswer> {
    const { nodes } = this.#options;
    const first = this.#turn;
    this.#turn = (first + 1) % nodes.length;
    const giveUpAtMs = performance.now() + this.#options.limitMs;
    const tried: string[] = [];
    for (const node of [...nodes.slice(first), ...nodes.slice(0, first)]) {
      const answer = await this.#sendTo(node, request, giveUpAtMs);
      if ("status" in answer && !isShuttingDown(answer)) return answer;
      if ("status" in answer) tried.push(`${node.name}: it is shutting down`);
      else tried.push(`${node.name}: ${answer.why}`);
      if ("why" in answer && answer.mayHaveArrived) return { reason: "outcome_unknown", tried };
    }
    return { reason: "backend_unavailable", tried };
  }

  #sendTo(node: StoreAddress, request: PassedRequest, giveUpAtMs: number): Promise<HotResponse | Lost> {
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
      const leftMs = Math.max(0, giveUpAtMs - performance.now());
      const limit = setTimeout(giveUp, leftMs, `it did not answer within ${limitMs} ms`);
      const end = (result: HotResponse | Lost) => {
        clearTimeout(limit);
        resolve(result);
      };
      // A code where there is one: messages name addresses, which are nobody's business outside.
      const lose = ({ code, message }: NodeJS.ErrnoException) => end({ why: code ?? message, mayHaveArrived });
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
      outgoing.on("error", lose);
      outgoing.once("response", (incoming) => readAnswer(incoming).then(end, lose));
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

function headersOf({ headers, body }: PassedRequest): Record<string, string | number> {
  const present = Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  return { ...Object.fromEntries(present), "content-length": Buffer.byteLength(body) };
}

/** Answered before anything of the request was looked at. */
function isShuttingDown({ status, body }: HotResponse): boolean {
  return status === 503 && body.startsWith('{"error":{"code":"shutting_down"');
}

async function readAnswer(incoming: http.IncomingMessage): Promise<HotResponse> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new Error("it answered with more than any answer has");
    chunks.push(chunk);
  }
  const headers = Object.entries(incoming.headers).flatMap(([name, value]) =>
    typeof value === "string" && !NOT_PASSED_BACK.has(name) ? [[name, value] as const] : [],
  );
  const body = Buffer.concat(chunks).toString("utf8");
  return { status: incoming.statusCode ?? 502, headers: Object.fromEntries(headers), body };
}
