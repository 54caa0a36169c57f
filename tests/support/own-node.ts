import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { programArgs } from "../../bin/build/programs";
import { ROOT } from "../../bin/supervisor/paths";
import { freePort } from "./free-port";
import { waitUntil } from "./wait-until";

/** A separate store node for a test: `server.ts` with the production build. It is the only node and its own coordinator. */
export interface OwnNode extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** The log output so far. */
  log(): string;
  signal(signal: NodeJS.Signals): void;
  /** Waits until the process exits. @returns its exit code */
  exited(withinMs: number): Promise<number | null>;
}

/** @param env added to the environment of the test, whose NEXT_DIST_DIR names the build */
export async function startOwnNode(env: Readonly<Record<string, string>>): Promise<OwnNode> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, programArgs(process.env.NEXT_DIST_DIR ?? ".next", "server"), {
    cwd: ROOT,
    env: {
      ...process.env,
      NODE_ENV: "production",
      STORE_NODE: "own",
      STORE_NODES: "",
      HOST: "127.0.0.1",
      PORT: String(port),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += String(chunk)));
  const isGone = () => child.exitCode !== null || child.signalCode !== null;
  const isUp = async () => {
    if (isGone()) throw new Error(`the node exited during its start: ${text}`);
    return fetch(`${url}/healthz`).then((response) => response.ok, notYet);
  };
  await waitUntil(isUp, { what: `the node on port ${port} to start`, withinMs: 60_000 });
  return {
    url,
    port,
    log: () => text,
    signal: (signal) => child.kill(signal),
    async exited(withinMs) {
      await waitUntil(isGone, { what: "the node to exit", withinMs });
      return child.exitCode;
    },
    [Symbol.asyncDispose]: () => end(child, isGone),
  };
}

const notYet = () => false;

async function end(child: ChildProcess, isGone: () => boolean): Promise<void> {
  if (isGone()) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}
