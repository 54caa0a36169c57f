import { askText } from "../../servers/text-protocol";
import { freePort } from "./free-port";
import { type OwnServer, startOwnServer } from "./own-server";

/** A separate memcached for a test. A restart or a flush deletes its data. */
export interface OwnMemcached extends OwnServer {
  readonly url: string;
  readonly port: number;
  /** Sends one command line. @returns the answer */
  send(line: string): Promise<string>;
}

export async function startOwnMemcached(): Promise<OwnMemcached> {
  const port = await freePort();
  const send = (line: string) =>
    askText({
      host: "127.0.0.1",
      port,
      send: `${line}\r\n`,
      timeoutMs: 2_000,
      isWhole: (answer) => answer.endsWith("\r\n"),
    });
  // As root, memcached requires a user to switch to.
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const server = await startOwnServer({
    command: "memcached",
    args: ["-l", "127.0.0.1", "-p", String(port), "-U", "0", ...user],
    isReady: async () => {
      const [version] = await Promise.allSettled([send("version")]);
      return version.status === "fulfilled" && version.value.startsWith("VERSION");
    },
  });
  return { ...server, url: `memcached://127.0.0.1:${port}`, port, send };
}
