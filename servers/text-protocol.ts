import { connect } from "node:net";

/**
 * Sends `send` and returns the answer, up to the first chunk that `isWhole` accepts or until the server closes the connection.
 * @throws Error if the server does not answer in time
 */
export function askText(request: {
  readonly host: string;
  readonly port: number;
  readonly send: string;
  readonly timeoutMs: number;
  readonly isWhole?: (answer: string) => boolean;
}): Promise<string> {
  const { host, port, send, timeoutMs, isWhole } = request;
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    let answer = "";
    const timer = setTimeout(() => end(new Error(`${host}:${port} did not answer within ${timeoutMs} ms`)), timeoutMs);
    const end = (error?: Error) => {
      clearTimeout(timer);
      socket.destroy();
      if (error) reject(error);
      else resolve(answer);
    };
    socket.once("connect", () => socket.write(send));
    socket.on("data", (chunk) => {
      answer += chunk.toString("utf8");
      if (isWhole?.(answer)) end();
    });
    socket.once("end", () => end());
    socket.once("error", (cause) => end(new Error(`${host}:${port}: ${cause.message}`, { cause })));
  });
}

/** Splits `host:port`, with or without a scheme. */
export function parseHostPort(text: string, defaultPort: number): { host: string; port: number } {
  const bare = text
    .trim()
    .replace(/^[a-z]+:\/\//, "")
    .replace(/\/.*$/, "");
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(bare);
  if (!match) throw new Error(`"${text}" is not host:port`);
  return { host: match[1] ?? match[2] ?? "", port: match[3] ? Number(match[3]) : defaultPort };
}
