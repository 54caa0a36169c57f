import { connect, createServer } from "node:net";

/**
 * Where everything listens. All below 32768: above it the system hands ports to outgoing connections, which makes a
 * server's port busy at random.
 */
export const DEFAULT_PORTS = {
  dashboard: 3000,
  "node-1": 3001,
  "node-2": 3002,
  "node-3": 3003,
  postgres: 15432,
  redis: 16379,
  "redlock-1": 16380,
  "redlock-2": 16381,
  "redlock-3": 16382,
  "redlock-4": 16383,
  "redlock-5": 16384,
  zookeeper: 12181,
  memcached: 11311,
  etcd: 12379,
  "etcd-peer": 12380,
} as const;

export type PortName = keyof typeof DEFAULT_PORTS;
export const PORT_NAMES = Object.keys(DEFAULT_PORTS) as PortName[];

/** Offsets from `--port-base`, so that a whole lab fits into a block of 100. */
const OFFSETS: Readonly<Record<PortName, number>> = {
  dashboard: 0,
  "node-1": 1,
  "node-2": 2,
  "node-3": 3,
  postgres: 10,
  redis: 20,
  "redlock-1": 21,
  "redlock-2": 22,
  "redlock-3": 23,
  "redlock-4": 24,
  "redlock-5": 25,
  zookeeper: 30,
  memcached: 40,
  etcd: 50,
  "etcd-peer": 51,
};

const LAST_PORT = 32_767;
const MAX_STEPS = 200;
const PROBE_TIMEOUT_MS = 500;

export interface PlannedPort {
  readonly port: number;
  /** The port that was asked for, when that was busy. */
  readonly busy: number | null;
}

export type PortPlan = Readonly<Record<PortName, PlannedPort>>;

/** The port asked for: `LAB_PORT_NODE_1` and the like, else from the base, else the default. */
export function wantedPort(
  name: PortName,
  options: { readonly base?: number; readonly env: Readonly<Record<string, string | undefined>> },
): number {
  const variable = `LAB_PORT_${name.replaceAll("-", "_").toUpperCase()}`;
  const given = options.env[variable];
  if (given === undefined || given === "") {
    return options.base === undefined ? DEFAULT_PORTS[name] : options.base + OFFSETS[name];
  }
  const port = Number(given);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error(`${variable}=${given} is no port (1-65535)`);
  return port;
}

/**
 * Settles a port for each name: the one asked for, or the next free one that nobody else asked for.
 * @throws Error when 200 ports in a row are busy
 */
export async function planPorts(
  names: readonly PortName[],
  options: {
    readonly base?: number;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly isFree?: (port: number) => Promise<boolean>;
  },
): Promise<PortPlan> {
  const isFree = options.isFree ?? isPortFree;
  const wanted = new Map(names.map((name) => [name, wantedPort(name, options)]));
  const reserved = new Set(wanted.values());
  const taken = new Set<number>();
  const plan: Partial<Record<PortName, PlannedPort>> = {};
  for (const [name, first] of wanted) {
    let port = first;
    for (let step = 0; taken.has(port) || (port !== first && reserved.has(port)) || !(await isFree(port)); step += 1) {
      port = port >= LAST_PORT ? 1_024 : port + 1;
      if (step >= MAX_STEPS) throw new Error(`no free port for ${name} in ${MAX_STEPS} from ${first} on`);
    }
    taken.add(port);
    plan[name] = { port, busy: port === first ? null : first };
  }
  return plan as PortPlan;
}

/** True when nothing listens on the port and it can be bound on the loopback interface. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await canListen(port)) && !(await answers(port));
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** True when a connection to the port on this machine is accepted. */
export function answers(port: number, host = "127.0.0.1"): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host, timeout: PROBE_TIMEOUT_MS });
    const end = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => end(true));
    socket.once("timeout", () => end(false));
    socket.once("error", () => end(false));
  });
}

/** "127.0.0.1:16380 (16379 is busy)". */
export function describePort(planned: PlannedPort): string {
  return `127.0.0.1:${planned.port}${planned.busy === null ? "" : ` (${planned.busy} is busy)`}`;
}
