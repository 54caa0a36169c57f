import { Agent, type IncomingHttpHeaders, request } from "node:http";

export interface RawRequest {
  readonly method: string;
  /** The exact request target; fetch would normalize it. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends requests unchanged over a limited number of connections, and reads complete responses. */
export class RawClient implements Disposable {
  readonly #agent: Agent;
  readonly #port: number;

  constructor(port: number, connections: number) {
    this.#port = port;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  send({ method, path, headers = {}, body }: RawRequest, limitMs = 30_000): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
      const options = { host: "127.0.0.1", port: this.#port, agent: this.#agent, method, path };
      const sent = request({ ...options, headers: { ...length, ...headers } }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
        });
      });
      sent.setTimeout(limitMs, () => sent.destroy(new Error(`no answer within ${limitMs} ms: ${method} ${path}`)));
      sent.on("error", reject);
      sent.end(body);
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}
