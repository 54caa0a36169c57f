import path from "node:path";
import { findExecutable, versionOf } from "../commands";
import { PROBE_TIMEOUT_MS, type Provisioner, READY_TIMEOUT_MS, serverEnv } from "../provisioning";
import { askText, parseHostPort } from "../text-protocol";

const MEMORY_MB = 64;

/** Memcached, 64 MB, TCP only. */
export const provisioner: Provisioner = {
  async find() {
    const binary = findExecutable("memcached");
    return binary ? { binary, version: await versionOf(binary, ["-V"]) } : null;
  },
  probe: (given) => askVersion({ ...parseHostPort(given, 11_211), timeoutMs: PROBE_TIMEOUT_MS }),
  async start(context, found) {
    const port = context.port("memcached");
    // As root, Memcached needs the name of a user to switch to.
    const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
    await context.start({
      name: "memcached",
      command: found.binary,
      args: ["-l", "127.0.0.1", "-p", String(port), "-U", "0", "-m", String(MEMORY_MB), "-c", "2048", ...user],
      cwd: context.dataDir,
      env: serverEnv(),
      logFile: path.join(context.logsDir, "memcached.log"),
      readyTimeoutMs: READY_TIMEOUT_MS,
      isReady: () =>
        askVersion({ host: "127.0.0.1", port, timeoutMs: 1_000 }).then(
          () => true,
          () => false,
        ),
    });
    return `127.0.0.1:${port}`;
  },
};

async function askVersion(server: { host: string; port: number; timeoutMs: number }): Promise<string> {
  const answer = await askText({ ...server, send: "version\r\n", isWhole: (text) => text.endsWith("\r\n") });
  const version = /^VERSION (\S+)/.exec(answer)?.[1];
  if (!version) throw new Error(`${server.host}:${server.port} does not answer as Memcached`);
  return version;
}
