import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port";
import { type OwnServer, startOwnServer } from "./own-server";

/** A separate etcd for a test. It keeps its data across a restart. */
export interface OwnEtcd extends OwnServer {
  readonly url: string;
  readonly port: number;
}

export async function startOwnEtcd(): Promise<OwnEtcd> {
  const port = await freePort();
  const peerPort = await freePort();
  const dataDir = await mkdtemp(join(tmpdir(), "etcd-test-"));
  const url = `http://127.0.0.1:${port}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  const settings = {
    name: "test",
    "data-dir": join(dataDir, "data"),
    "listen-client-urls": url,
    "advertise-client-urls": url,
    "listen-peer-urls": peerUrl,
    "initial-advertise-peer-urls": peerUrl,
    "initial-cluster": `test=${peerUrl}`,
    "log-level": "error",
  };
  const server = await startOwnServer({
    command: "etcd",
    args: Object.entries(settings).map(([name, value]) => `--${name}=${value}`),
    isReady: () => isHealthy(url),
  });
  return {
    ...server,
    url,
    port,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(1_000) });
    return ((await answer.json()) as { health: string }).health === "true";
  } catch {
    return false; // The server is still starting.
  }
}
