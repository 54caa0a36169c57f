import { Agent, type ClientRequest, get, type IncomingMessage, request } from "node:http";

const WARM_UP_TIMEOUT_MS = 5_000;

/** Where purchases go and what they carry. */
export interface Sale {
  readonly runId: string;
  /** Proves that a purchase belongs to the run's load; null: not known. */
  readonly runKey: string | null;
  readonly storeUrls: readonly string[];
  /** For example `/api/products/7/reduce-stock`. */
  readonly path: string;
  readonly seed: number;
  readonly requestTimeoutMs: number;
}

/** The outcome of one purchase; null status: no HTTP answer. */
export interface Answer {
  readonly status: number | null;
  readonly answeredAtMs: number;
}

/** Keeps connections open between purchases. If there are more purchases than connections, they queue, and that counts as latency. */
export function createPool(maxConnections: number, nodes: number): Agent {
  const perNode = Math.ceil(maxConnections / nodes);
  return new Agent({ keepAlive: true, maxSockets: perNode, maxFreeSockets: perNode, noDelay: true });
}

/**
 * Sends one request per connection at the same time. This opens the pool's connections and lets V8 compile the code that purchases
 * use, so that the first buyers are not slower. Never rejects, because the purchases show that a node is down.
 */
export async function warmUp(sale: Sale, pool: Agent, connections: number): Promise<void> {
  const urls = Array.from({ length: connections }, (_, i) => `${sale.storeUrls[i % sale.storeUrls.length]}/healthz`);
  await Promise.all(urls.map((url) => warmOne(url, pool)));
}

function warmOne(url: string, pool: Agent): Promise<void> {
  return new Promise((resolve) => {
    const request = get(url, { agent: pool, timeout: WARM_UP_TIMEOUT_MS }, (response) => {
      response.resume();
      response.once("close", resolve);
    });
    request.once("timeout", () => request.destroy());
    request.once("error", () => resolve());
  });
}

/** One purchase in two steps, so that a buyer can connect before the start. */
export class Purchase {
  readonly answer: Promise<Answer>;
  private readonly body: string;
  private readonly request: ClientRequest;

  constructor(sale: Sale, pool: Agent, buyer: number) {
    this.body = JSON.stringify({ userId: `buyer-${sale.seed}-${buyer}` });
    this.request = request(`${sale.storeUrls[buyer % sale.storeUrls.length]}${sale.path}`, {
      method: "POST",
      agent: pool,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(this.body),
        "x-run-id": sale.runId,
        ...(sale.runKey === null ? {} : { "x-run-key": sale.runKey }),
      },
    });
    this.answer = this.awaitAnswer(sale.requestTimeoutMs);
  }

  /** Resolves when this purchase has an open connection. Never rejects: `answer` reports a failure. */
  connected(): Promise<void> {
    return new Promise((resolve) => {
      this.request.once("error", () => resolve());
      this.request.once("socket", (socket) => {
        if (socket.connecting) socket.once("connect", () => resolve());
        else resolve();
      });
    });
  }

  send(): void {
    this.request.end(this.body);
  }

  private awaitAnswer(timeoutMs: number): Promise<Answer> {
    return new Promise((resolve) => {
      const settle = (status: number | null) => {
        clearTimeout(timer);
        resolve({ status, answeredAtMs: performance.now() });
      };
      const timer = setTimeout(() => this.request.destroy(new Error("the request timed out")), timeoutMs);
      this.request.once("error", () => settle(null));
      this.request.once("response", (response: IncomingMessage) => {
        response.resume();
        response.once("end", () => settle(response.statusCode ?? null));
        response.once("error", () => settle(null));
        response.once("aborted", () => settle(null));
      });
    });
  }
}
