import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Clock } from "../clock";
import { EtcdError, type EtcdErrorKind, isEtcdError } from "./etcd-port";

/** Connections for requests. Each watch has a separate one. */
const MAX_CONNECTIONS = 64;
const REQUEST_LIMIT_MS = 2_000;

/**
 * gRPC status codes of errors that would repeat on retry: invalid argument, permission denied, unimplemented and
 * similar.
 */
const REFUSALS: ReadonlySet<number> = new Set([3, 5, 6, 7, 9, 11, 12, 16]);
const LEASE_NOT_FOUND = "requested lease not found";

interface GatewayFailure {
  readonly code?: number;
  readonly grpc_code?: number;
  readonly message?: string;
  readonly error?: string;
}

interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

interface StreamedMessage<T> {
  readonly result?: T;
  readonly error?: GatewayFailure;
}

/**
 * etcd's JSON gateway: gRPC requests as POSTs, bytes in base64, 64-bit numbers as strings, zeros omitted. Streamed
 * answers have one JSON object per line. All requests go to one member of the cluster, until it cannot be reached or cannot
 * serve: then the next requests go to the next member.
 * @see https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/
 */
export class EtcdGateway {
  readonly #members: readonly [URL, ...URL[]];
  readonly #clock: Clock;
  readonly #agent: HttpAgent;
  readonly #open = new Set<ClientRequest>();
  #isClosed = false;
  /** The member that gets the requests. */
  #base: URL;

  /** @param members with one protocol */
  constructor(members: readonly [URL, ...URL[]], clock: Clock) {
    this.#members = members;
    this.#base = members[0];
    this.#clock = clock;
    const options = { keepAlive: true, maxSockets: MAX_CONNECTIONS };
    this.#agent = this.#base.protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options);
  }

  /** Sends one request and returns its answer. @throws {EtcdError} also if there is no answer in time */
  async post<T>(path: string, body: unknown): Promise<T> {
    const base = this.#base;
    try {
      return parseAnswer<T>(await this.#exchange(path, body));
    } catch (error) {
      if (isEtcdError(error, "unreachable")) this.#leave(base);
      throw error;
    }
  }

  /** Returns the first message of a streamed answer, for requests that get only one. */
  async postStreamed<T>(path: string, body: unknown): Promise<T> {
    const { result, error } = await this.post<StreamedMessage<T>>(path, body);
    if (result !== undefined) return result;
    throw asEtcdError(error ?? { message: "etcd sent an empty answer" });
  }

  /**
   * Reads messages of a streamed answer until `isLast` returns true, the stream ends, or the signal aborts.
   * @returns whether `isLast` returned true
   */
  listen<T>(
    path: string,
    body: unknown,
    { isLast, signal }: { isLast: (message: T) => boolean; signal: AbortSignal },
  ): Promise<boolean> {
    if (signal.aborted || this.#isClosed) return Promise.resolve(false);
    return new Promise((resolve) => {
      const request = this.#send(path, body, false);
      const end = (wasLast: boolean) => {
        signal.removeEventListener("abort", onAbort);
        request.destroy();
        resolve(wasLast);
      };
      const onAbort = () => end(false);
      signal.addEventListener("abort", onAbort, { once: true });
      // `close` follows every error, refused connection and end of stream.
      request.on("error", () => {});
      request.once("close", () => end(false));
      request.once("response", (response) => {
        onLines(response, (line) => {
          const result = parseJson<StreamedMessage<T>>(line)?.result;
          if (result === undefined) end(false);
          else if (isLast(result)) end(true);
        });
      });
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const request of this.#open) request.destroy();
    this.#agent.destroy();
  }

  /** Requests that fail together leave the member once. */
  #leave(base: URL): void {
    if (this.#base !== base) return;
    const next = (this.#members.indexOf(base) + 1) % this.#members.length;
    this.#base = this.#members[next] ?? base;
  }

  #exchange(path: string, body: unknown): Promise<HttpAnswer> {
    if (this.#isClosed) return Promise.reject(new EtcdError("refused", "the etcd client has been closed"));
    const { host } = this.#base;
    return new Promise((resolve, reject) => {
      const request = this.#send(path, body, true);
      let isSettled = false;
      const settle = (): boolean => {
        if (isSettled) return false;
        isSettled = true;
        this.#clock.clearTimer(timer);
        return true;
      };
      const fail = (message: string, cause?: unknown) => {
        if (settle()) reject(new EtcdError("unreachable", `${host}: ${message}`, cause));
      };
      const timer = this.#clock.setTimer(REQUEST_LIMIT_MS, () => {
        fail(`no answer within ${REQUEST_LIMIT_MS} ms`);
        request.destroy();
      });
      request.once("error", (error) => fail(error.message, error));
      // Also fires after every complete answer, when the promise is already settled.
      request.once("close", () => fail("the connection was closed"));
      request.once("response", (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        response.once("end", () => {
          if (settle()) resolve({ status: response.statusCode ?? 0, text });
        });
      });
    });
  }

  #send(path: string, body: unknown, isPooled: boolean): ClientRequest {
    const text = JSON.stringify(body);
    const send = this.#base.protocol === "https:" ? httpsRequest : httpRequest;
    const request = send(new URL(path, this.#base), {
      method: "POST",
      agent: isPooled ? this.#agent : false,
      // With this header, a member without a leader ends the watch instead of sending nothing.
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(text),
        "grpc-metadata-hasleader": "true",
      },
    });
    this.#open.add(request);
    request.once("close", () => this.#open.delete(request));
    request.end(text);
    return request;
  }
}

function onLines(response: IncomingMessage, onLine: (line: string) => void): void {
  let rest = "";
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") onLine(line);
  });
}

function parseAnswer<T>({ status, text }: HttpAnswer): T {
  const answer = parseJson<T & GatewayFailure>(text);
  if (answer === null) throw notAGateway(status);
  if (status === 200) return answer;
  throw asEtcdError(answer);
}

/** @returns null if the text is not JSON */
function parseJson<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}

/** A proxy that lost its etcd may recover. Any other answer would repeat. */
function notAGateway(status: number): EtcdError {
  const kind = status >= 500 ? "unreachable" : "refused";
  return new EtcdError(kind, `the server (HTTP ${status}) is not an etcd with a JSON gateway; check ETCD_URL`);
}

function asEtcdError(failure: GatewayFailure): EtcdError {
  const message = failure.message ?? failure.error ?? "the server gave no reason";
  const code = failure.grpc_code ?? failure.code ?? 0;
  const kind: EtcdErrorKind = message.includes(LEASE_NOT_FOUND)
    ? "no-lease"
    : REFUSALS.has(code)
      ? "refused"
      : "unreachable";
  return new EtcdError(kind, message);
}
