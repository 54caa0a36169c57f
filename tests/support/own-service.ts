import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import { ROOT } from "../../bin/supervisor/paths";
import { serverKind } from "../../servers/all-servers";
import { loadProvisioner, type ProcessSpec } from "../../servers/provisioning";
import { freePort } from "./free-port";
import type { LockServers } from "./lock-clients";
import { waitUntil } from "./wait-until";

/** A separate service for a test, configured as in the lab. For Redlock, these are five servers. */
export interface OwnService extends AsyncDisposable {
  readonly servers: Partial<LockServers>;
  /** Kills every server. Data on disk stays. */
  kill(): Promise<void>;
  /** Restarts them on the same ports. */
  start(): Promise<void>;
}

export async function startOwnService(id: string): Promise<OwnService> {
  const { label, ports: named } = serverKind(id);
  const provisioner = await loadProvisioner(id);
  const found = await provisioner.find();
  if (!found) throw new Error(`these tests need ${label}; "npm run lab -- doctor" shows how to install it`);
  const parent = path.join(ROOT, ".lab", "own-services");
  mkdirSync(parent, { recursive: true });
  const dataDir = await mkdtemp(path.join(parent, `${id}-`));
  const ports = new Map<string, number>();
  for (const name of Object.keys(named)) ports.set(name, await freePort());
  const processes: OwnProcess[] = [];
  const address = await provisioner.start(
    {
      dataDir,
      logsDir: dataDir,
      port: (name) => ports.get(name) ?? 0,
      start: async (spec) => {
        const server = new OwnProcess(spec);
        processes.push(server);
        await server.start();
      },
    },
    found,
  );
  const kill = async () => void (await Promise.all(processes.map((server) => server.kill())));
  return {
    servers: { [id]: address },
    kill,
    start: async () => void (await Promise.all(processes.map((server) => server.start()))),
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

class OwnProcess {
  readonly #spec: ProcessSpec;
  #child: ChildProcess | null = null;

  constructor(spec: ProcessSpec) {
    this.#spec = spec;
  }

  async start(): Promise<void> {
    const { name, command, args, cwd, env, user, isReady, readyTimeoutMs } = this.#spec;
    // A separate process group, so that a kill also ends its children.
    const options = { cwd, env: env as NodeJS.ProcessEnv, detached: true, stdio: "ignore" as const, ...user };
    this.#child = spawn(command, args, options);
    await once(this.#child, "spawn");
    await waitUntil(isReady, { what: `${name} to answer`, withinMs: readyTimeoutMs });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    process.kill(-child.pid, "SIGKILL");
    await exit;
  }
}
